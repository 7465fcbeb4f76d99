#pragma once
// Which level a version has reached, waiting for it, and giving versions up.
#include "client/job.hpp"

namespace perdure::client {

/// PERDURE_INVALID_ARGUMENT for a negative version, or one below PERDURE_LATEST where the newest may be meant.
base::Status check_version(std::int64_t version, bool or_latest = false);

/// [local] As far as this node and the store know.
base::Result<perdure_level> level_reached(Job& job, const std::string& name, std::int64_t version);
/// [collective] `timeout_s` 0: for ever.
base::Status wait_level(Job& job, const std::string& name, std::int64_t version, int level, double timeout_s,
                        base::Status ready = {});
/// [collective] Gives up a version on all tiers and in the store.
base::Status retire_version(Job& job, const std::string& name, std::int64_t version);
/// [local] What the background is doing; the other fields of `progress` stay.
base::Status read_progress(Job& job, perdure_progress& progress);
/// [local]
base::Result<std::string> next_report(Job& job);

}  // namespace perdure::client
