#pragma once
// Checks for failures on clusters: a store that nodes do not share, quotas, and a network that libfabric does not find.
// The job may also have a memory limit that the memory tier does not know. Looking (check_*) is apart from deciding
// (judge_*), which is pure.
#include "inspect/check.hpp"
#include "os/quota.hpp"

namespace perdure::inspect {

/// Says whether nodes see the same file system, by its kind.
enum class Sharing { shared, of_one_node, unknown };
Sharing sharing_of(const std::string& file_system);

/// The number of nodes, as far as it is known here.
struct JobNodes {
  std::uint64_t of_job = 0;  ///< number in the batch system's variables; 0: they say nothing
  bool redundancy = false;   ///< engines keep data for other nodes
  bool simulated = false;    ///< node.ranks_per_node: they are all on this machine
  bool several() const { return of_job > 1 || (redundancy && !simulated); }
};
/// Reads it from the variables of batch systems; the configuration tells the caller more.
std::uint64_t nodes_of_job(const config::Environment& environment);
Check judge_sharing(const std::string& location, const std::string& file_system, const JobNodes& nodes);
std::vector<Check> check_sharing(const config::Config& config);

/// Adds the rest of a quota at a store to the store's check.
void judge_quota(Check& check, const std::string& location, const os::Quota& quota, std::uint64_t chunk_bytes);

/// Gives the remedy of an error at the place that `option` names.
std::string remedy_of_place(const base::Error& error, const std::string& option);

struct MemoryLimitFacts {
  std::uint64_t machine_bytes = 0;
  std::uint64_t limit_bytes = UINT64_MAX;      ///< limit of the job: its control group
  std::uint64_t available_bytes = UINT64_MAX;  ///< rest of it now
  std::uint64_t tier_bytes = 0;                ///< greatest size of the memory tier
  bool tier_in_memory = true;
};
Check judge_memory_limit(const MemoryLimitFacts& facts);
std::vector<Check> check_memory_limit(const config::Config& config);

/// `found`: the provider that libfabric would use for this network.provider.
Check judge_provider(const std::string& provider, const base::Result<std::string>& found);
/// Checks the provider; nothing without redundancy: engines have no network then.
std::vector<Check> check_provider(const config::Config& config);

}  // namespace perdure::inspect
