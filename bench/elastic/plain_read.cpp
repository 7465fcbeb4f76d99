#include "plain_read.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "references.hpp"

namespace perdure::elastic_bench {
namespace {

constexpr std::size_t kCall = 4U << 20;

base::Status read_file(const std::string& path, char*& to, const char* end) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ssize_t got = fd < 0 ? -1 : 1;
  while (got > 0 && to < end) {
    got = ::read(fd, to, std::min(kCall, static_cast<std::size_t>(end - to)));
    if (got > 0) to += got;
  }
  const int error = errno;
  if (fd >= 0) ::close(fd);
  return got < 0 ? base::fail(PERDURE_IO, path, std::strerror(error)) : base::Status{};
}

}  // namespace

base::Result<PlainRead> read_plainly(const std::string& directory) {
  std::vector<std::string> paths;
  PlainRead plain;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory, error)) {
    if (!entry.is_regular_file()) continue;
    paths.push_back(entry.path());
    plain.bytes += entry.file_size();
  }
  if (error) return base::fail(PERDURE_IO, directory, error.message());
  std::vector<char> memory(plain.bytes, 'x');
  char* to = memory.data();
  const double begin = bench::now_s();
  for (const std::string& path : paths) PERDURE_CHECK(read_file(path, to, memory.data() + memory.size()));
  plain.seconds = bench::now_s() - begin;
  return plain;
}

std::uint64_t bytes_read_so_far() {
  std::ifstream io("/proc/self/io");
  std::string key;
  for (std::uint64_t value = 0; io >> key >> value;)
    if (key == "rchar:") return value;
  return 0;
}

}  // namespace perdure::elastic_bench
