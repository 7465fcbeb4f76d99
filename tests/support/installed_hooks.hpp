#pragma once
// Installs hooks that are removed at the end of their scope.
#include "os/hooks.hpp"

namespace perdure::test_support {

class InstalledHooks {
 public:
  explicit InstalledHooks(os::Hooks& hooks) { os::install_hooks(&hooks); }
  ~InstalledHooks() { os::install_hooks(nullptr); }
  InstalledHooks(const InstalledHooks&) = delete;
  InstalledHooks& operator=(const InstalledHooks&) = delete;
};

}  // namespace perdure::test_support
