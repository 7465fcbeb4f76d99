#include "synchronous.hpp"

#include <algorithm>

#include "device/shared_device.hpp"

namespace perdure::studies {

double synchronous_write_s(const simulate::Scenario& scenario, double efficiency) {
  const double bytes = static_cast<double>(scenario.chunks) * static_cast<double>(scenario.chunk_bytes) / efficiency;
  const double share = device::share_of_store(scenario.node, scenario.nodes);
  double last_s = 0;
  for (unsigned node = 0; node < std::min(scenario.nodes, scenario.max_simulated); ++node) {
    device::SharedDevice store(scenario.node.store, scenario.seed * 1'000'003 + node);
    store.limit(0, share);
    for (unsigned rank = 0; rank < scenario.writers; ++rank) store.start(0, bytes);
    while (const auto next = store.next_event()) {
      store.advance(*next);
      for (const auto& completion : store.take_completed()) last_s = std::max(last_s, completion.time_s);
    }
  }
  return last_s;
}

}  // namespace perdure::studies
