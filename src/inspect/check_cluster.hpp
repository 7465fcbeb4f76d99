#pragma once
// What breaks on clusters: a store that nodes do not share, quotas, a memory limit of the job that the memory tier does
// not know, a network that libfabric does not find. Looking (check_*) is apart from deciding (judge_*), which is pure.
#include "inspect/check.hpp"
#include "os/quota.hpp"

namespace perdure::inspect {

/// Whether nodes see the same file system, by its kind.
enum class Sharing { shared, of_one_node, unknown };
Sharing sharing_of(const std::string& file_system);

/// How many nodes are meant, as far as anything here says.
struct JobNodes {
  std::uint64_t of_job = 0;  ///< as the batch system says; 0: it says nothing
  bool redundancy = false;   ///< engines keep data for other nodes
  bool simulated = false;    ///< node.ranks_per_node: they are all on this machine
  bool several() const { return of_job > 1 || (redundancy && !simulated); }
};
/// By the variables of batch systems; of the configuration the caller knows more.
std::uint64_t nodes_of_job(const config::Environment& environment);
Check judge_sharing(const std::string& location, const std::string& file_system, const JobNodes& nodes);
std::vector<Check> check_sharing(const config::Config& config);

/// Adds what a quota leaves at a store to the store's check.
void judge_quota(Check& check, const std::string& location, const os::Quota& quota, std::uint64_t chunk_bytes);

/// What to do about an error at the place that `option` names.
std::string remedy_of_place(const base::Error& error, const std::string& option);

struct MemoryLimitFacts {
  std::uint64_t machine_bytes = 0;
  std::uint64_t limit_bytes = UINT64_MAX;      ///< of the job: its control group
  std::uint64_t available_bytes = UINT64_MAX;  ///< that it leaves by now
  std::uint64_t tier_bytes = 0;                ///< that the memory tier may grow to
  bool tier_in_memory = true;
};
Check judge_memory_limit(const MemoryLimitFacts& facts);
std::vector<Check> check_memory_limit(const config::Config& config);

/// `found`: what libfabric would use for this network.provider.
Check judge_provider(const std::string& provider, const base::Result<std::string>& found);
/// Nothing without redundancy: engines have no network then.
std::vector<Check> check_provider(const config::Config& config);

}  // namespace perdure::inspect
