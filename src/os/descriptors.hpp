#pragma once
// Lists the open descriptors of this process, and reads and raises their limit.
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.hpp"

struct __dirstream;

namespace perdure::os {

struct DescriptorLimit {
  std::uint64_t now = 0;   ///< the limit in force
  std::uint64_t most = 0;  ///< this process may raise it so far
};
DescriptorLimit descriptor_limit();
/// Raises the limit as far as allowed. Only Perdure's own programs call it: an application that calls select() needs
/// its limit.
void raise_descriptor_limit();

/// Lists this process's open descriptors repeatedly. It opens one descriptor when it is made and none later, so it
/// works when all are in use. One thread at a time.
class OpenDescriptors {
 public:
  static base::Result<OpenDescriptors> open();
  /// Leaves out its own.
  base::Result<std::vector<int>> list();

 private:
  struct Close {
    void operator()(__dirstream* directory) const;
  };
  explicit OpenDescriptors(__dirstream* directory) : directory_(directory) {}
  std::unique_ptr<__dirstream, Close> directory_;
};

}  // namespace perdure::os
