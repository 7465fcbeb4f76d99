#include "os/hooks.hpp"

namespace perdure::os {
namespace {
std::atomic<Hooks*> installed{nullptr};
}  // namespace

void install_hooks(Hooks* hooks) { installed.store(hooks, std::memory_order_release); }

Hooks* installed_hooks() { return installed.load(std::memory_order_acquire); }

}  // namespace perdure::os
