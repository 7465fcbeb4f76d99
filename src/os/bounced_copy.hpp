#pragma once
// Copies of this process's own memory where it may be gone: by way of a buffer that stays in the processor's cache.
#include <cstddef>
#include <cstdint>

namespace perdure::os {

/// Buffers for so many threads, each of which uses its own one. Allocates nothing once it is made.
class BouncedCopy {
 public:
  static constexpr std::size_t kBufferBytes = 256 << 10;
  static constexpr std::size_t kMostThreads = 2;

  BouncedCopy();
  BouncedCopy(const BouncedCopy&) = delete;
  BouncedCopy& operator=(const BouncedCopy&) = delete;
  ~BouncedCopy();
  /// Has the system give the buffers' memory now, where it gives a huge page.
  void prepare();
  /// Copies what is at `from` past the caches. 0, or an error number where that cannot be read: no signal. `to` can be
  /// written.
  int copy(std::size_t thread, std::uint64_t from, std::byte* to, std::uint64_t bytes);

 private:
  void* mapped_;
  std::byte* buffers_ = nullptr;
};

}  // namespace perdure::os
