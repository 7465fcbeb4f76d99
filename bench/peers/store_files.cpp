#include "store_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace perdure::peers_bench {
namespace {

// Includes directories, because they hold the files' names.
std::vector<std::string> paths_below(const std::string& directory) {
  std::vector<std::string> all{directory};
  std::error_code error;
  std::filesystem::recursive_directory_iterator at(directory, error);
  for (; !error && at != std::filesystem::recursive_directory_iterator(); at.increment(error)) {
    std::error_code gone;
    if (at->is_regular_file(gone) || at->is_directory(gone)) all.push_back(at->path().string());
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

bool sync_files(const std::string& directory, int rank, int ranks, std::string& why) {
  const auto paths = paths_below(directory);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (i % static_cast<std::size_t>(ranks) != static_cast<std::size_t>(rank)) continue;
    const int fd = ::open(paths[i].c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) continue;
    const bool good = fd >= 0 && ::fsync(fd) == 0;
    if (!good) why = paths[i] + ": " + std::strerror(errno);
    if (fd >= 0) ::close(fd);
    if (!good) return false;
  }
  return true;
}

bool read_file(const std::string& path, std::vector<char>& target, std::string& why) {
  constexpr std::size_t kBlock = 1U << 20;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) why = path + ": " + std::strerror(errno);
  bool good = fd >= 0;
  for (std::size_t done = 0; good && done < target.size();) {
    const ssize_t count = ::read(fd, target.data() + done, std::min(kBlock, target.size() - done));
    good = count > 0;
    if (good) done += static_cast<std::size_t>(count);
    if (!good) why = path + ": " + (count == 0 ? "it is too short" : std::strerror(errno));
  }
  if (fd >= 0) ::close(fd);
  return good;
}

}  // namespace perdure::peers_bench
