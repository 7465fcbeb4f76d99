#include "os/hooks.hpp"

#include <thread>

namespace perdure::os {
namespace {
std::atomic<Hooks*> installed{nullptr};
std::atomic<std::size_t> holders{0};
}  // namespace

// A thread counts itself before it reads the hooks' address. In the total order of these operations, it either did so
// before the exchange, or it read the new address.
void install_hooks(Hooks* hooks) {
  if (installed.exchange(hooks) == nullptr) return;
  while (holders.load() != 0) std::this_thread::yield();
}

HeldHooks::HeldHooks() : hooks_(installed.load(std::memory_order_relaxed)) {
  if (hooks_ == nullptr) return;
  holders.fetch_add(1);
  hooks_ = installed.load();
  if (hooks_ == nullptr) holders.fetch_sub(1);
}

HeldHooks::~HeldHooks() {
  if (hooks_ != nullptr) holders.fetch_sub(1);
}

}  // namespace perdure::os
