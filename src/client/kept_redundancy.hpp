#pragma once
// What engines keep for other nodes, at the end of a job: it goes when the store has what could be rebuilt from it.
#include <string>
#include <vector>

#include "client/job.hpp"

namespace perdure::client {

/// The newest attempt that the store has whole, or that was forgotten on purpose. 0: none, or the store cannot say.
std::uint64_t stored_until_ns(store::Store& store, const std::string& name);

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
