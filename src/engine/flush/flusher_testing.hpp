#pragma once
// For tests only: a flusher beside a node's state; its threads are waited for.
#include "engine/flush/flusher.hpp"
#include "engine/ledger/capture_testing.hpp"
#include "os/fault_rules.hpp"
#include "os/system.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::engine {

class FlusherFixture : public CaptureFixture {
 protected:
  void TearDown() override { flusher.reset(); }
  /// False when `condition`, looked at with the lock held, does not come true within 20 s at least.
  template <class Condition>
  bool await(Condition condition) {
    for (int i = 0; i < 20000; ++i) {
      {
        const auto guard = ledger->lock();
        if (condition()) return true;
      }
      os::sleep_ns(kMillisecond);
    }
    return false;
  }
  std::unique_ptr<store::Store> made;
  std::unique_ptr<Flusher> flusher;
};

}  // namespace perdure::engine
