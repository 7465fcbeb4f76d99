#include "references.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>

namespace perdure::bench {

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double copy_to_warm_memory(std::vector<char>& target, const std::vector<char>& source) {
  const double begin = now_s();
  std::memcpy(target.data(), source.data(), source.size());
  return now_s() - begin;
}

double write_fresh_file(const std::string& path, const std::vector<char>& source, bool sync, std::string& why) {
  constexpr std::size_t kBlock = 1U << 20;
  const double begin = now_s();
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  bool good = fd >= 0;
  for (std::size_t done = 0; good && done < source.size();) {
    const ssize_t wrote = ::write(fd, source.data() + done, std::min(kBlock, source.size() - done));
    good = wrote > 0;
    if (good) done += static_cast<std::size_t>(wrote);
  }
  if (good && sync) good = ::fsync(fd) == 0;
  const double seconds = now_s() - begin;
  if (!good) why = path + ": " + std::strerror(errno);
  if (fd >= 0) ::close(fd);
  return good ? seconds : -1;
}

std::size_t anonymous_memory_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:")) return std::stoull(line.substr(8)) * 1024;
  return 0;
}

long minor_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

void fill_random(std::vector<char>& bytes, unsigned seed) {
  std::uint64_t state = seed * 0x9e3779b97f4a7c15ULL + 1;
  for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    std::memcpy(bytes.data() + i, &state, 8);
  }
}

}  // namespace perdure::bench
