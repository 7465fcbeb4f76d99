#include "os/quota.hpp"

#include <fcntl.h>
#include <sys/quota.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/file.hpp"

namespace perdure::os {
namespace {

constexpr std::uint64_t kQuotaBlock = 1024;

// A soft limit applies after its grace time; a hard one takes precedence.
std::uint64_t limit_of(std::uint64_t hard, std::uint64_t soft, std::uint64_t unit) {
  const std::uint64_t limit = hard != 0 ? hard : soft;
  return limit == 0 || limit >= Quota::kUnlimited / unit ? Quota::kUnlimited : limit * unit;
}

#ifdef SYS_quotactl_fd
std::optional<Quota> quota_of(int fd, int type, std::uint32_t id) {
  dqblk block{};
  if (::syscall(SYS_quotactl_fd, fd, QCMD(Q_GETQUOTA, type), id, &block) != 0) return std::nullopt;
  return Quota{limit_of(block.dqb_bhardlimit, block.dqb_bsoftlimit, kQuotaBlock), block.dqb_curspace,
               limit_of(block.dqb_ihardlimit, block.dqb_isoftlimit, 1), block.dqb_curinodes};
}
#else
std::optional<Quota> quota_of(int, int, std::uint32_t) { return std::nullopt; }
#endif

}  // namespace

Quota less_of(const Quota& one, const Quota& other) {
  Quota less = one;
  if (other.left_bytes() < one.left_bytes()) less.limit_bytes = other.limit_bytes, less.used_bytes = other.used_bytes;
  if (other.left_files() < one.left_files()) less.limit_files = other.limit_files, less.used_files = other.used_files;
  return less;
}

std::optional<Quota> quota(const std::string& path) {
  const Fd place(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!place) return std::nullopt;
  const auto user = quota_of(place.get(), USRQUOTA, ::getuid()), group = quota_of(place.get(), GRPQUOTA, ::getgid());
  if (user && group) return less_of(*user, *group);
  return user ? user : group;
}

}  // namespace perdure::os
