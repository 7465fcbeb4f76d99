#include "engine/ledger/node_tables.hpp"

#include <algorithm>

namespace perdure::engine {
namespace {

// A tier should reach at least these rates. Too low a guess makes producers wait for flushes, and is never corrected.
constexpr double kMemoryBytesPerS = 4e9, kFileBytesPerS = 500e6;

}  // namespace

Observations::Observations(std::size_t tiers, double now_s)
    : at_last_commit(tiers), interference(now_s), writes(tiers) {}

NodeTables::NodeTables(catalog::Catalog catalog_, std::vector<std::unique_ptr<tier::Tier>> tiers_, Reports& reports_,
                       NodeStateOptions options_)
    : catalog(std::move(catalog_)),
      tiers(std::move(tiers_)),
      usable_tiers(static_cast<std::uint32_t>(
          std::count_if(tiers.begin(), tiers.end(), [](const auto& tier) { return !tier->properties().leaving; }))),
      reports(reports_),
      options(std::move(options_)),
      slots(tiers),
      tier_health(tiers.size()),
      observed(tiers.size(), now_s()),
      flush_meter(slots, options.clock) {
  if (options.policy == nullptr) options.policy = placement::find_policy("hybrid-naive").value();
  options.models.resize(tiers.size());
  for (std::size_t t = 0; t < tiers.size(); ++t) {
    const bool memory = tiers[t]->properties().mapped;
    const auto assumed = placement::DeviceModel::assumed(memory ? kMemoryBytesPerS : kFileBytesPerS);
    observed.models.push_back(options.models[t].model.value_or(assumed));
  }
}

const catalog::HeldVersion* NodeTables::held(const segment::VersionId& id) const {
  const auto it = catalog.state().versions.find(id);
  return it == catalog.state().versions.end() ? nullptr : &it->second;
}

const catalog::RedundancySet* NodeTables::redundancy_set(const catalog::RedundancyId& id) const {
  const auto it = catalog.state().redundancy_sets.find(id);
  return it == catalog.state().redundancy_sets.end() ? nullptr : &it->second;
}

const Version* NodeTables::held_version(const segment::VersionId& id) const {
  const Version* version = versions.find(id);
  return version != nullptr && version->held() ? version : nullptr;
}

// Allocates no memory: if it could fail, the slot would never be given back.
void NodeTables::release_slot(const segment::VersionId& id, SlotKey slot) {
  if (Version* version = versions.find(id))
    if (const auto flushed = version->flushed.find(slot.first); flushed != version->flushed.end())
      flushed->second.erase(slot.second);
  (void)slots.happens(slot, SlotEvent::free);
}

void NodeTables::tier_failed(std::uint32_t tier, const std::string& why) {
  if (!tier_health[tier].reported)
    reports.add("tier " + tiers[tier]->properties().name + ": " + why + "; using the next tier");
  tier_health[tier] = {true, true};
}

}  // namespace perdure::engine
