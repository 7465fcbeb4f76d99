#pragma once
// At the end of a job, engines drop the redundancy that they keep for other nodes, once the store has all that it could
// rebuild.
#include <optional>
#include <string>
#include <vector>

#include "client/job.hpp"

namespace perdure::client {

/// Gives, for each run of a name, the newest attempt that the store has completely, and for all of them the forgotten
/// attempts. `used`: the launch has a version on this branch. Empty if the store cannot say.
std::vector<ipc::StoredName> stored_runs(store::Store& store, const std::string& name,
                                         const std::optional<plan::Branch>& used);

/// [collective] Gives that for each name of which nodes keep redundancy, or of which this job wrote or restored a
/// version. The redundancy of the latter may still be in progress, and appear before it is to be dropped.
base::Result<std::vector<ipc::StoredName>> look_at_store(Job& job);

/// [collective] Drops the redundancy when everything of this job is stored. PERDURE_INCOMPLETE: some must stay, because
/// the store has a part only. The text says what stays where, and what to do.
base::Status drop_redundancy(Job& job);

/// Makes close()'s error for that case.
base::Error still_kept(const std::vector<segment::VersionId>& versions, const std::string& store,
                       const std::string& node_directory);

}  // namespace perdure::client
