#include <algorithm>
#include <array>

#include "base/bytes.hpp"
#include "tier/file_tier.hpp"
#include "tier/memory_tier.hpp"
#include "tier/tier.hpp"

namespace perdure::tier {
namespace {

struct Entry {
  const char* kind;
  base::Result<std::unique_ptr<Tier>> (*make)(const TierOptions&);
};
constexpr std::array kTiers = {Entry{"memory", make_memory_tier}, Entry{"file", make_file_tier}};

}  // namespace

base::Result<std::unique_ptr<Tier>> make_tier(const std::string& kind, const TierOptions& options) {
  std::string known;
  for (const Entry& entry : kTiers) {
    if (kind == entry.kind) return entry.make(options);
    known += (known.empty() ? "" : ", ") + std::string(entry.kind);
  }
  return base::fail(PERDURE_INVALID_ARGUMENT, "tier.order", "there is no tier '" + kind + "'", "known tiers: " + known);
}

bool memory_allows(const SystemRoom& room, std::uint64_t bytes) {
  // What stays free for the application and the kernel: a twentieth of the machine, at most 1 GiB.
  const std::uint64_t margin = std::min<std::uint64_t>(room.total_memory_bytes / 20, base::GiB);
  return room.file_system_bytes >= bytes && room.memory_bytes >= bytes && room.memory_bytes - bytes >= margin;
}

}  // namespace perdure::tier
