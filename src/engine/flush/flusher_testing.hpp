#pragma once
// For tests only: runs a flusher beside a node's state, and waits for its threads.
#include "engine/flush/flusher.hpp"
#include "engine/ledger/capture_testing.hpp"
#include "os/fault_rules.hpp"
#include "os/system.hpp"
#include "support/eventually.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::engine {

class FlusherFixture : public CaptureFixture {
 protected:
  void TearDown() override { flusher.reset(); }
  /// Calls eventually() with a condition that is checked with the lock held.
  template <class Condition>
  [[nodiscard]] bool await(const std::string& what, Condition condition, const char* file = __builtin_FILE(),
                           int line = __builtin_LINE()) {
    return test_support::eventually(
        what,
        [&] {
          const auto guard = ledger->lock();
          return condition();
        },
        file, line);
  }
  std::unique_ptr<store::Store> made;
  std::unique_ptr<Flusher> flusher;
};

}  // namespace perdure::engine
