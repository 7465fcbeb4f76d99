// Classifies an open file by its link, its type and its fdinfo.
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "process/devices.hpp"
#include "process/file_details.hpp"

namespace perdure::process {
namespace {

constexpr std::string_view kDeleted = " (deleted)";
constexpr std::string_view kMemoryFile = "/memfd:";

std::string without_deleted(std::string_view link) {
  if (link.ends_with(kDeleted)) link.remove_suffix(kDeleted.size());
  return std::string(link);
}

NamedFile named(const std::string& path, const struct stat& facts) {
  NamedFile file;
  file.path = path;
  file.mode = facts.st_mode;
  file.device = facts.st_dev;
  file.inode = facts.st_ino;
  file.special_device = S_ISCHR(facts.st_mode) ? facts.st_rdev : 0;
  file.size = S_ISREG(facts.st_mode) ? static_cast<std::uint64_t>(facts.st_size) : 0;
  file.modified_ns = facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec;
  return file;
}

/// Classifies files that have no name in any file system.
std::optional<OpenFile::What> anonymous(const std::string& link, const FdInfo& info) {
  if (link.starts_with("pipe:[")) return PipeEnd{};
  if (link.starts_with("socket:[")) return PairSocket{};
  if (link == "anon_inode:[eventfd]" && info.event) return *info.event;
  if (link == "anon_inode:[timerfd]" && info.timer) return *info.timer;
  if (link == "anon_inode:[signalfd]" && info.signals) return *info.signals;
  if (link == "anon_inode:[eventpoll]") return PollSet{info.poll_items};
  return std::nullopt;
}

std::optional<OpenFile::What> unlinked(const std::string& link, const struct stat& facts, const FdInfo& info) {
  if (!S_ISREG(facts.st_mode) || (info.flags & O_PATH) != 0) return std::nullopt;
  if (!link.starts_with(kMemoryFile)) return UnlinkedFile{without_deleted(link), 0};
  return MemoryFile{without_deleted(link).substr(kMemoryFile.size()), 0};
}

std::optional<OpenFile::What> with_a_name(const std::string& link, const struct stat& facts, const FdInfo& info) {
  const bool path_only = (info.flags & O_PATH) != 0;
  if (S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode)) return named(link, facts);
  if (S_ISFIFO(facts.st_mode) && !path_only) return FifoEnd{named(link, facts), 0};
  if (!S_ISCHR(facts.st_mode) || path_only) return std::nullopt;
  if (is_plain_device(facts.st_rdev)) return named(link, facts);
  if (is_terminal(facts.st_rdev)) return Terminal{link};
  return std::nullopt;
}

std::optional<OpenFile::What> kind_of(const std::string& link, const struct stat& facts, const FdInfo& info) {
  if (!link.starts_with('/')) return anonymous(link, info);
  return facts.st_nlink == 0 ? unlinked(link, facts, info) : with_a_name(link, facts, info);
}

bool leads_to(const std::string& path, const struct stat& facts) {
  struct stat there {};
  return ::lstat(path.c_str(), &there) == 0 && there.st_dev == facts.st_dev && there.st_ino == facts.st_ino;
}

}  // namespace

std::optional<SeenFile> classified(pid_t process, int number, const std::string& link, const FdInfo& info) {
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(number);
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return std::nullopt;
  SeenFile seen;
  seen.numbers = {number};
  seen.link = link;
  seen.device = facts.st_dev;
  seen.inode = facts.st_ino;
  auto what = kind_of(link, facts, info);
  seen.known = what.has_value();
  seen.file.what = what ? std::move(*what) : LeftOut{link};
  seen.file.flags = info.flags & ~static_cast<std::uint32_t>(O_CLOEXEC);
  seen.file.offset = info.offset;
  seen.file.locks = info.locks;
  seen.lease = info.lease;
  seen.carries_files = info.carried_files != 0;
  seen.semaphore_unknown = info.event && !info.semaphore_known;
  seen.name_lost = seen.known && link.starts_with('/') && facts.st_nlink != 0 && !leads_to(link, facts);
  struct statfs system {};
  const bool named = link.starts_with('/') && ::statfs(path.c_str(), &system) == 0;
  constexpr auto kMessageQueue = 0x19800202, kSecretMemory = 0x5345434d;
  if (named && (system.f_type == kMessageQueue || system.f_type == kSecretMemory)) {
    seen.known = seen.name_lost = false;
    seen.file.what = LeftOut{link};
    if (system.f_type == kMessageQueue) seen.socket = "a POSIX message queue ('" + link + "')";
    return seen;
  }
  const bool carried =
      std::holds_alternative<UnlinkedFile>(seen.file.what) || std::holds_alternative<MemoryFile>(seen.file.what);
  if (carried) seen.content_bytes = static_cast<std::uint64_t>(facts.st_blocks) * 512;
  seen.on_huge_pages = carried && named && system.f_type == HUGETLBFS_MAGIC;
  return seen;
}

}  // namespace perdure::process
