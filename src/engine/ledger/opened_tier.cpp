#include "engine/ledger/opened_tier.hpp"

#include "base/hash.hpp"
#include "os/file.hpp"
#include "os/system.hpp"

namespace perdure::engine {

catalog::OpenedTier opened_tier(const tier::Tier& tier) {
  const tier::Properties& properties = tier.properties();
  catalog::OpenedTier opened{properties.name, tier.incarnation(), {}};
  if (const auto space = os::space(properties.directory))
    opened.place = {properties.directory, space->device_id, space->inode, space->in_memory() ? boot_number() : 0};
  return opened;
}

std::uint64_t boot_number() {
  const std::string id = os::boot_id();
  return id.empty() ? 0 : base::hash64(base::as_bytes(id));
}

}  // namespace perdure::engine
