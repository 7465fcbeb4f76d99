#include "os/fork.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace perdure::os {
namespace {

// Keeps one bit per descriptor, because the child of a process with threads may neither lock nor allocate. The child
// inherits descriptors beyond kWords * 64: nobody has so many.
constexpr std::size_t kWords = 1024;
std::array<std::atomic<std::uint64_t>, kWords> kept;

std::atomic<std::uint64_t>* word_of(int fd) {
  const auto index = static_cast<std::size_t>(fd) / 64;
  return fd < 0 || index >= kWords ? nullptr : &kept[index];
}
std::uint64_t bit_of(int fd) { return std::uint64_t{1} << (fd % 64); }

// Runs in the child: only async-signal-safe calls.
void replace_in_child() {
  int null_fd = -1;
  for (std::size_t index = 0; index < kWords; ++index) {
    std::uint64_t bits = kept[index].exchange(0);
    for (; bits != 0; bits &= bits - 1) {
      const int fd = static_cast<int>(index * 64) + __builtin_ctzll(bits);
      if (null_fd < 0) null_fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
      if (null_fd < 0 || ::dup3(null_fd, fd, O_CLOEXEC) < 0) ::close(fd);
    }
  }
  if (null_fd >= 0) ::close(null_fd);
}

}  // namespace

void keep_from_children(int fd) {
  static std::once_flag once;
  std::call_once(once, [] { ::pthread_atfork(nullptr, nullptr, replace_in_child); });
  if (auto* word = word_of(fd)) word->fetch_or(bit_of(fd));
}

void forget_descriptor(int fd) {
  if (auto* word = word_of(fd); word != nullptr && (word->load() & bit_of(fd)) != 0) word->fetch_and(~bit_of(fd));
}

}  // namespace perdure::os
