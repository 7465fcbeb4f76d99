#include "engine/ledger/on_their_way.hpp"

#include <algorithm>

namespace perdure::engine {

std::optional<double> held_back_for_s(const NodeState& state) {
  std::optional<double> first;
  for (const auto& [id, version] : state.tracked())
    if (version.held_back_until_s && version.wants_flush())
      first = std::min(first.value_or(*version.held_back_until_s), *version.held_back_until_s);
  return first ? std::optional(std::max(*first - state.options().clock(), 0.0)) : std::nullopt;
}

bool busy(const NodeState& state, const std::string& name) {
  std::size_t on_their_way = 0;
  for (auto it = state.versions().lower_bound({name, 0, {}}); it != state.versions().end() && it->first.name == name;
       ++it) {
    const Version* version = state.version(it->first);
    if (version != nullptr && version->on_its_way() && ++on_their_way > 1) return true;
  }
  return false;
}

bool any_unreachable(const NodeState& state, const std::string& name) {
  const auto& versions = state.versions();
  return std::any_of(versions.begin(), versions.end(),
                     [&](const auto& entry) { return entry.first.name == name && !entry.second.unreachable.empty(); });
}

}  // namespace perdure::engine
