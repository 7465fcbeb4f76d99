#pragma once
// These calls tell which level a version has reached, wait for a level, and retire versions.
#include "client/job.hpp"

namespace perdure::client {

/// PERDURE_INVALID_ARGUMENT for a negative version; with `or_latest`, PERDURE_LATEST is allowed.
base::Status check_version(std::int64_t version, bool or_latest = false);

/// [local] Gives the level as far as this node and the store know.
base::Result<perdure_level> level_reached(Job& job, const std::string& name, std::int64_t version);
/// [collective] Waits for `level`; `timeout_s` 0: for ever.
base::Status wait_level(Job& job, const std::string& name, std::int64_t version, int level, double timeout_s,
                        base::Status ready = {});
/// [collective] Retires a version on all tiers and in the store.
base::Status retire_version(Job& job, const std::string& name, std::int64_t version);
/// [local] Fills in the progress of the background; the other fields of `progress` stay.
base::Status read_progress(Job& job, perdure_progress& progress);
/// [local] Takes the oldest report.
base::Result<std::string> next_report(Job& job);

}  // namespace perdure::client
