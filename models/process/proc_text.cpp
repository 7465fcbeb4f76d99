#include "process/proc_text.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace perdure::process {

std::string proc_text(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string all;
  std::array<char, 16384> block;
  for (;;) {
    const ssize_t got = ::read(file, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) all.clear();  // the process has ended
    if (got <= 0) break;
    all.append(block.data(), static_cast<std::size_t>(got));
  }
  ::close(file);
  return all;
}

}  // namespace perdure::process
