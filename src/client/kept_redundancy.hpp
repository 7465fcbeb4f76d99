#pragma once
// What engines keep for other nodes, at the end of a job: it goes when the store has what could be rebuilt from it.
#include <optional>
#include <string>
#include <vector>

#include "client/job.hpp"

namespace perdure::client {

/// Of each run of a name the newest attempt that the store has whole, and of all of them what was forgotten on purpose.
/// `used`: the launch has a version on this branch. Nothing where the store cannot say.
std::vector<ipc::StoredName> stored_runs(store::Store& store, const std::string& name,
                                         const std::optional<plan::Branch>& used);

/// [collective] That of each name of which nodes keep something, or of which this job wrote or restored a version: the
/// redundancy of such may still be under way, and be kept by the time that it is to be dropped.
base::Result<std::vector<ipc::StoredName>> look_at_store(Job& job);

/// [collective] When everything of this job is stored. Where something has to stay, because the store has a part only:
/// PERDURE_INCOMPLETE, with what stays where, and what to do.
base::Status drop_redundancy(Job& job);

/// What close() says then.
base::Error still_kept(const std::vector<segment::VersionId>& versions, const std::string& store,
                       const std::string& node_directory);

}  // namespace perdure::client
