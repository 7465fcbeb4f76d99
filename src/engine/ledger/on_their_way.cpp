#include "engine/ledger/on_their_way.hpp"

#include <algorithm>

namespace perdure::engine {

std::optional<double> held_back_for_s(const NodeState& state) {
  const double now_s = state.options().clock();
  std::optional<double> first_s;
  for (const auto& [id, version] : state.tracked()) {
    const double for_s = version.held_back_until_s.value_or(now_s) - now_s;
    if (for_s > 0 && version.wants_flush()) first_s = std::min(first_s.value_or(for_s), for_s);
  }
  return first_s;
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
