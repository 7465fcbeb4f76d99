#include "inspect/check_cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "config/directories.hpp"
#include "network/wire.hpp"
#include "os/system.hpp"
#include "store/store.hpp"

namespace perdure::inspect {
namespace {

using base::format_bytes;
constexpr std::uint64_t kChunksOfAQuota = 16;
constexpr std::uint64_t kFilesOfAQuota = 1000, kFewestFiles = 4;  // one version with its directories, on one node
constexpr std::uint64_t kPartOfMemory = 5;                        // the memory tier's default limit: a fifth

constexpr std::array<std::string_view, 13> kShared = {"nfs",   "lustre", "gpfs", "beegfs", "ceph", "cifs", "smb2",
                                                      "panfs", "pvfs2",  "gfs2", "ocfs2",  "afs",  "9p"};
constexpr std::array<std::string_view, 8> kOfOneNode = {"tmpfs", "ramfs", "ext4", "xfs",
                                                        "btrfs", "zfs",   "f2fs", "hugetlbfs"};

bool worse(Check& check, Verdict verdict) {
  if (static_cast<int>(check.verdict) >= static_cast<int>(verdict)) return false;
  check.verdict = verdict;
  return true;
}

}  // namespace

Sharing sharing_of(const std::string& file_system) {
  if (std::find(kShared.begin(), kShared.end(), file_system) != kShared.end()) return Sharing::shared;
  const bool own = std::find(kOfOneNode.begin(), kOfOneNode.end(), file_system) != kOfOneNode.end();
  return own ? Sharing::of_one_node : Sharing::unknown;
}

std::uint64_t nodes_of_job(const config::Environment& environment) {
  for (const char* name : {"SLURM_JOB_NUM_NODES", "SLURM_NNODES", "PBS_NUM_NODES", "FLUX_JOB_NNODES"}) {
    const auto variable = environment.find(name);
    if (variable == environment.end()) continue;
    const std::string& text = variable->second;
    std::uint64_t nodes = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), nodes);
    if (error == std::errc() && end == text.data() + text.size()) return nodes;
  }
  return 0;
}

Check judge_sharing(const std::string& location, const std::string& file_system, const JobNodes& nodes) {
  Check check{"nodes and store", Verdict::ok, location + " is on " + file_system, ""};
  switch (sharing_of(file_system)) {
    case Sharing::shared:
      check.finding += ", which nodes share";
      return check;
    case Sharing::unknown:
      check.finding += ", which does not say whether nodes share it; a job on several nodes needs that";
      return check;
    case Sharing::of_one_node:
      break;
  }
  check.finding += ", which is of this node alone";
  if (!nodes.several()) {
    check.finding += "; a job on several nodes needs one that they share";
    return check;
  }
  check.verdict = Verdict::warning;
  check.finding += nodes.of_job > 1 ? fmt::format(", and this job has {} nodes", nodes.of_job)
                                    : ", and with redundancy.scheme engines of several nodes are meant";
  check.remedy =
      "set store.path to a directory that all nodes of the job share, unless this node is the one that serves it";
  return check;
}

std::vector<Check> check_sharing(const config::Config& config) {
  const auto store = store::make_store(config.text("store.path"), config.below("store."));
  const std::string location = store ? (*store)->properties().directory : std::string();
  const auto space = location.empty() ? base::Result<os::Space>() : os::space(nearest_existing(location));
  if (location.empty() || !space) return {};  // check_store() reports that
  JobNodes nodes;
  nodes.of_job = nodes_of_job(config::own_environment());
  nodes.redundancy = config.text("redundancy.scheme") != "single";
  nodes.simulated = config.integer("node.ranks_per_node") != 0;
  return {judge_sharing(location, space->type, nodes)};
}

void judge_quota(Check& check, const std::string& location, const os::Quota& quota, std::uint64_t chunk_bytes) {
  const std::uint64_t bytes = quota.left_bytes(), files = quota.left_files();
  const bool none = bytes < chunk_bytes || files < kFewestFiles;
  const bool little = bytes / kChunksOfAQuota < chunk_bytes || files < kFilesOfAQuota;
  if (!little || !worse(check, none ? Verdict::problem : Verdict::warning)) return;
  const bool of_files = bytes >= chunk_bytes && (files < kFewestFiles || bytes / kChunksOfAQuota >= chunk_bytes);
  const std::string left = of_files ? fmt::format("{} of {} files", files, quota.limit_files)
                                    : format_bytes(bytes) + " of " + format_bytes(quota.limit_bytes);
  check.finding = location + ": your quota there leaves " + left +
                  (none ? ", which is no room for one checkpoint, so that checkpoints stay on the node" : "");
  check.remedy =
      "remove files of yours there (perdure prune shows what retention would give up), ask for a larger quota, or set "
      "store.path elsewhere";
}

std::string remedy_of_place(const base::Error& error, const std::string& option) {
  const std::string elsewhere = "set " + option + " ";
  if (error.code == PERDURE_NO_SPACE)
    return "make room there: of bytes (df -h), of files (df -i), or of your quota (quota -s); or " + elsewhere +
           "elsewhere";
  if (error.code == PERDURE_PERMISSION) return elsewhere + "to a directory where you may write";
  if (error.code == PERDURE_UNSUPPORTED) return elsewhere + "to a file system that can do this";
  return elsewhere + "to a file system that works, or see what the system's log says of its device";
}

Check judge_memory_limit(const MemoryLimitFacts& facts) {
  const std::string name = "memory limit of the job", tier = format_bytes(facts.tier_bytes);
  if (facts.limit_bytes >= facts.machine_bytes)
    return {name, Verdict::ok, "none below the machine's " + format_bytes(facts.machine_bytes), ""};
  const std::string limit = format_bytes(facts.limit_bytes);
  if (!facts.tier_in_memory) return {name, Verdict::ok, limit, ""};
  const std::string counts =
      limit + ", and what is in a memory file system counts; the memory tier may grow to " + tier;
  const std::string remedy = "set tier.memory.max_bytes to what the program leaves, or ask for more memory";
  if (facts.tier_bytes >= facts.limit_bytes)
    return {name, Verdict::problem, counts + ": the kernel would end processes of the job before", remedy};
  if (facts.tier_bytes > facts.available_bytes)
    return {name, Verdict::warning, counts + "; by now " + format_bytes(facts.available_bytes) + " are left", remedy};
  if (facts.tier_bytes > facts.limit_bytes / 2)
    return {name, Verdict::warning, counts + ", more than half of it", remedy};
  return {name, Verdict::ok, counts, ""};
}

std::vector<Check> check_memory_limit(const config::Config& config) {
  MemoryLimitFacts facts;
  facts.machine_bytes = os::machine_memory_bytes();
  facts.limit_bytes = os::job_memory_limit_bytes();
  facts.available_bytes = os::available_memory_bytes();
  facts.tier_bytes = config.bytes("tier.memory.max_bytes");
  if (facts.tier_bytes == 0) facts.tier_bytes = os::total_memory_bytes() / kPartOfMemory;
  const auto order = config.list("tier.order");
  const auto space = os::space(nearest_existing(config::tier_root(config, "memory")));
  facts.tier_in_memory =
      std::find(order.begin(), order.end(), "memory") != order.end() && (!space || space->in_memory());
  return {judge_memory_limit(facts)};
}

Check judge_provider(const std::string& provider, const base::Result<std::string>& found) {
  if (found) return {"network provider", Verdict::ok, "libfabric has " + *found, ""};
  const std::string missing = "network.provider = " + provider + ": " + found.error().text();
  return {"network provider", Verdict::problem, missing,
          "without it engines keep nothing for other nodes: mend that, name another network.provider, or set "
          "redundancy.scheme to single"};
}

std::vector<Check> check_provider(const config::Config& config) {
  if (config.text("redundancy.scheme") == "single") return {};
  network::FabricOptions options;
  options.provider = config.text("network.provider");
  options.bind_address = config.text("network.bind");
  return {judge_provider(options.provider, base::caught("libfabric", [&] { return network::try_fabric(options); }))};
}

}  // namespace perdure::inspect
