#pragma once
// The descriptors of this process: which are open, and how many there may be.
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.hpp"

struct __dirstream;

namespace perdure::os {

struct DescriptorLimit {
  std::uint64_t now = 0;   ///< the limit that holds
  std::uint64_t most = 0;  ///< as far as this process may raise it
};
DescriptorLimit descriptor_limit();
/// Raises the limit as far as it may be. For programs of our own: an application that calls select() needs its limit.
void raise_descriptor_limit();

/// Lists this process's open descriptors again and again. It takes one when it is made, and none later: it works when
/// all are taken, too. One thread at a time.
class OpenDescriptors {
 public:
  static base::Result<OpenDescriptors> open();
  /// Without its own.
  base::Result<std::vector<int>> list();

 private:
  struct Close {
    void operator()(__dirstream* directory) const;
  };
  explicit OpenDescriptors(__dirstream* directory) : directory_(directory) {}
  std::unique_ptr<__dirstream, Close> directory_;
};

}  // namespace perdure::os
