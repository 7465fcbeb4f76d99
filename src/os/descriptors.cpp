#include "os/descriptors.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdlib>

#include "os/file.hpp"

namespace perdure::os {
namespace {

constexpr const char* kOpenDescriptors = "/proc/self/fd";

}  // namespace

DescriptorLimit descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  return {limit.rlim_cur, limit.rlim_max};
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);  // if refused, the limit stays
}

void OpenDescriptors::Close::operator()(__dirstream* directory) const { ::closedir(directory); }

base::Result<OpenDescriptors> OpenDescriptors::open() {
  Fd fd(::open(kOpenDescriptors, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  DIR* directory = fd ? ::fdopendir(fd.get()) : nullptr;
  if (directory == nullptr) return base::fail(base::errno_error(errno, "open", kOpenDescriptors));
  (void)fd.release();
  return OpenDescriptors(directory);
}

base::Result<std::vector<int>> OpenDescriptors::list() {
  std::vector<int> all;
  const int own = ::dirfd(directory_.get());
  ::rewinddir(directory_.get());
  errno = 0;
  while (const dirent* entry = ::readdir(directory_.get())) {
    if (entry->d_name[0] == '.') continue;
    const int fd = std::atoi(entry->d_name);
    if (fd != own) all.push_back(fd);
  }
  if (errno != 0) return base::fail(base::errno_error(errno, "readdir", kOpenDescriptors));
  return all;
}

}  // namespace perdure::os
