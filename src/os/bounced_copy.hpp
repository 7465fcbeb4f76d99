#pragma once
// Copies memory of this process that may be unmapped meanwhile, through a buffer that stays in the processor's cache.
#include <cstddef>
#include <cstdint>

namespace perdure::os {

/// Holds a buffer for each of so many threads; each thread uses its own. Allocates nothing after construction.
class BouncedCopy {
 public:
  static constexpr std::size_t kBufferBytes = 256 << 10;
  static constexpr std::size_t kMostThreads = 2;

  BouncedCopy();
  BouncedCopy(const BouncedCopy&) = delete;
  BouncedCopy& operator=(const BouncedCopy&) = delete;
  ~BouncedCopy();
  /// Makes the system back the buffers with memory now, if it gives a huge page.
  void prepare();
  /// Copies `bytes` bytes at `from` past the caches. Returns 0, or an error number if `from` cannot be read; raises no
  /// signal. `to` must be writable.
  int copy(std::size_t thread, std::uint64_t from, std::byte* to, std::uint64_t bytes);

 private:
  void* mapped_;
  std::byte* buffers_ = nullptr;
};

}  // namespace perdure::os
