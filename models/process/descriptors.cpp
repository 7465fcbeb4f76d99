#include "process/descriptors.hpp"

#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cstring>

#include "process/devices.hpp"

namespace perdure::process {
namespace {

constexpr std::uint64_t kGreatestOffset = INT64_MAX;
constexpr std::size_t kMostRuns = 1 << 20;

std::string wrong_path(const std::string& path) {
  if (path.empty() || path.front() != '/') return "its path does not begin with /";
  if (path.size() >= PATH_MAX) return "its path is longer than paths are";
  return path.find('\0') == std::string::npos ? "" : "its path has a zero in it";
}

}  // namespace

std::uint64_t FileContent::bytes() const {
  std::uint64_t all = 0;
  for (const auto& run : runs) all += run.bytes.size();
  return all;
}

std::string FileContent::wrong() const {
  if (runs.size() > kMostRuns || size > kGreatestOffset) return "its content is larger than files are";
  std::uint64_t end = 0;
  for (const auto& run : runs) {
    if (run.offset < end || run.offset > kGreatestOffset - run.bytes.size())
      return "the runs of a content do not ascend";
    end = run.offset + run.bytes.size();
  }
  if (size != 0 && end > size) return "a content has more than its size";
  return permissions > 07777 ? "a content has permissions that there are not" : "";
}

std::string NamedFile::wrong() const {
  if (auto path_is = wrong_path(path); !path_is.empty()) return path_is;
  switch (mode & S_IFMT) {
    case S_IFREG:
    case S_IFDIR:
    case S_IFIFO:
      return size > kGreatestOffset ? "it is larger than files are" : "";
    case S_IFCHR:
      return is_plain_device(special_device) ? "" : "its device is none of those that are captured";
    default:
      return "it is neither a regular file, nor a directory, nor a device";
  }
}

std::string TimerFile::wrong() const {
  constexpr std::uint64_t kMost = INT64_MAX;
  const bool known = clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME ||
                     clock == CLOCK_REALTIME_ALARM || clock == CLOCK_BOOTTIME_ALARM;
  if (!known) return "its clock is none that timers have";
  return remaining_ns <= kMost && interval_ns <= kMost && set_flags <= 3 ? "" : "its time is none";
}

std::string PairSocket::wrong() const {
  if (type != SOCK_STREAM && type != SOCK_DGRAM && type != SOCK_SEQPACKET) return "its type is none of a pair";
  if (shut_down > 3 || send_buffer > INT32_MAX || receive_buffer > INT32_MAX || peek_offset < -1)
    return "its options are out of range";
  if (unread.size() > kMostRuns) return "it has too many messages";
  constexpr std::uint64_t kMostTime = std::uint64_t{1} << 50;
  return send_timeout_us <= kMostTime && receive_timeout_us <= kMostTime ? "" : "its timeouts are out of range";
}

std::string ListeningSocket::wrong() const {
  constexpr std::size_t kMostOptions = 64, kLeastOfUnix = 3, kMostOfUnix = 110;
  constexpr std::uint32_t kTcp = 6;
  const bool of_unix = domain == AF_UNIX && protocol == 0 && (type == SOCK_STREAM || type == SOCK_SEQPACKET) &&
                       address.size() >= kLeastOfUnix && address.size() <= kMostOfUnix;
  const bool of_tcp = type == SOCK_STREAM && protocol == kTcp &&
                      ((domain == AF_INET && address.size() == sizeof(sockaddr_in)) ||
                       (domain == AF_INET6 && address.size() == sizeof(sockaddr_in6)));
  if (!of_unix && !of_tcp) return "it listens to what is none";
  sa_family_t family = 0;
  std::memcpy(&family, address.data(), sizeof family);
  if (family != domain) return "its address is of another kind";
  return backlog <= INT32_MAX && permissions <= 07777 && options.size() <= kMostOptions
             ? ""
             : "its options are out of range";
}

std::string SignalOwner::wrong() const {
  if (signal < 0 || signal > 64) return "its signal is none";
  return (kind == Kind::nobody) == (id == 0) && id >= 0 ? "" : "its owner is none";
}

bool OpenFile::is_replaced() const {
  return std::holds_alternative<Terminal>(what) || std::holds_alternative<Inherited>(what) ||
         std::holds_alternative<LeftOut>(what);
}

std::string OpenFile::wrong() const {
  constexpr std::uint32_t kMakes = O_CREAT | O_EXCL | O_TRUNC;
  if ((flags & O_CLOEXEC) != 0) return "its flags have that of a descriptor";
  if ((flags & kMakes) != 0) return "its flags make or cut files";
  if (offset > kGreatestOffset) return "its offset is beyond all files";
  const auto beyond = [](const FileLock& lock) {
    return lock.begin > kGreatestOffset || lock.bytes > kGreatestOffset - lock.begin;
  };
  return std::any_of(locks.begin(), locks.end(), beyond) ? "its locks are beyond all files" : "";
}

}  // namespace perdure::process
