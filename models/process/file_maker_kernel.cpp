// Makes files that are kernel objects: eventfd, timerfd, signalfd, epoll and socket pairs.
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "process/file_maker.hpp"
#include "process/listening_socket.hpp"
#include "process/reopened.hpp"

namespace perdure::process {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

base::Status call_failed(const char* call, const std::string& object) {
  return base::fail(base::errno_error(errno, call, object));
}

timespec time_of(std::uint64_t time) {
  return {static_cast<time_t>(time / kSecondNs), static_cast<long>(time % kSecondNs)};
}

template <class Value>
bool set_option(int socket, int option, const Value& value) {
  return ::setsockopt(socket, SOL_SOCKET, option, &value, sizeof value) == 0;
}

/// The kernel doubles the requested size, and limits it for users without privileges.
void set_buffer(int socket, int forced, int option, std::uint32_t bytes) {
  const int half = static_cast<int>(bytes / 2);
  if (!set_option(socket, forced, half)) set_option(socket, option, half);
}

void set_timeout(int socket, int option, std::uint64_t time_us) {
  const timeval time{static_cast<time_t>(time_us / 1'000'000), static_cast<suseconds_t>(time_us % 1'000'000)};
  if (time_us != 0) set_option(socket, option, time);
}

/// Sends the unread messages of `to` through its peer.
base::Status send_unread(int peer, const PairSocket& to, const std::string& object) {
  std::size_t bytes = 0;
  for (const auto& message : to.unread) bytes += message.bytes.size();
  if (to.unread.empty()) return {};
  set_buffer(peer, SO_SNDBUFFORCE, SO_SNDBUF,
             static_cast<std::uint32_t>(std::min<std::size_t>(4 * bytes + 65536, INT32_MAX)));
  for (const auto& message : to.unread) {
    const ssize_t sent = ::send(peer, message.bytes.data(), message.bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) return call_failed("send", object);
    if (static_cast<std::size_t>(sent) != message.bytes.size())
      return base::fail(PERDURE_NO_SPACE, object, "what waited in it does not fit in any more",
                        "raise net.core.wmem_max, or have CAP_NET_ADMIN");
  }
  return {};
}

base::Status set_options(int socket, const PairSocket& what, std::uint32_t flags, const std::string& object) {
  set_buffer(socket, SO_SNDBUFFORCE, SO_SNDBUF, what.send_buffer);
  set_buffer(socket, SO_RCVBUFFORCE, SO_RCVBUF, what.receive_buffer);
  set_timeout(socket, SO_SNDTIMEO, what.send_timeout_us);
  set_timeout(socket, SO_RCVTIMEO, what.receive_timeout_us);
  if (what.pass_credentials) set_option(socket, SO_PASSCRED, 1);
  if (what.peek_offset >= 0) set_option(socket, SO_PEEK_OFF, what.peek_offset);
  if (what.shut_down != 0) {
    const int how = what.shut_down == 1 ? SHUT_RD : what.shut_down == 2 ? SHUT_WR : SHUT_RDWR;
    if (::shutdown(socket, how) != 0 && errno != ENOTCONN) return call_failed("shutdown", object);
  }
  return set_flags(socket, flags, object);
}

}  // namespace

base::Result<os::Fd> FileMaker::make_of(const EventCount& what, std::uint32_t file) {
  os::Fd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | (what.semaphore ? EFD_SEMAPHORE : 0)));
  if (!fd) PERDURE_CHECK(call_failed("eventfd", name_of(file)));
  if (what.count != 0 && ::write(fd.get(), &what.count, sizeof what.count) != sizeof what.count)
    PERDURE_CHECK(call_failed("write", name_of(file)));
  PERDURE_CHECK(set_flags(fd.get(), flags_of(file), name_of(file)));
  return fd;
}

base::Result<os::Fd> FileMaker::make_of(const TimerFile& what, std::uint32_t file) {
  os::Fd fd(::timerfd_create(what.clock, TFD_CLOEXEC));
  if (!fd) PERDURE_CHECK(call_failed("timerfd_create", name_of(file)));
  std::uint64_t first = what.waits_to_be_read() ? what.interval_ns : what.remaining_ns;
  const bool absolute = first != 0 && (what.set_flags & TFD_TIMER_ABSTIME) != 0;
  timespec now{};
  if (absolute && ::clock_gettime(what.clock, &now) == 0)
    first += static_cast<std::uint64_t>(now.tv_sec) * kSecondNs + static_cast<std::uint64_t>(now.tv_nsec);
  const itimerspec time{time_of(what.interval_ns), time_of(first)};
  if (::timerfd_settime(fd.get(), absolute ? static_cast<int>(what.set_flags) : 0, &time, nullptr) != 0)
    PERDURE_CHECK(call_failed("timerfd_settime", name_of(file)));
  constexpr unsigned long kSetTicks = _IOW('T', 0, std::uint64_t);  // TFD_IOC_SET_TICKS
  if (what.ticks != 0 && ::ioctl(fd.get(), kSetTicks, &what.ticks) != 0)
    note(file, "that it had expired " + std::to_string(what.ticks) + " times cannot be told it on this kernel");
  PERDURE_CHECK(set_flags(fd.get(), flags_of(file), name_of(file)));
  return fd;
}

base::Result<os::Fd> FileMaker::make_of(const SignalFile& what, std::uint32_t file) {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal = 1; signal <= 64; ++signal)
    if ((what.signals >> (signal - 1) & 1) != 0) sigaddset(&signals, signal);
  os::Fd fd(::signalfd(-1, &signals, SFD_CLOEXEC));
  if (!fd) PERDURE_CHECK(call_failed("signalfd", name_of(file)));
  PERDURE_CHECK(set_flags(fd.get(), flags_of(file), name_of(file)));
  return fd;
}

base::Result<os::Fd> FileMaker::make_of(const PollSet&, std::uint32_t file) {
  os::Fd fd(::epoll_create1(EPOLL_CLOEXEC));
  if (!fd) PERDURE_CHECK(call_failed("epoll_create1", name_of(file)));
  PERDURE_CHECK(set_flags(fd.get(), flags_of(file), name_of(file)));
  return fd;
}

base::Result<os::Fd> FileMaker::make_of(const ListeningSocket& what, std::uint32_t file) {
  std::string told;
  PERDURE_TRY(os::Fd fd, listen_again(what, name_of(file), told));
  if (!told.empty()) note(file, told);
  PERDURE_CHECK(set_flags(fd.get(), flags_of(file), name_of(file)));
  return fd;
}

base::Result<os::Fd> FileMaker::make_of(const PairSocket& what, std::uint32_t file) {
  if (peers_[file]) return std::move(peers_[file]);
  int made[2];
  if (::socketpair(AF_UNIX, static_cast<int>(what.type) | SOCK_CLOEXEC, 0, made) != 0)
    PERDURE_CHECK(call_failed("socketpair", name_of(file)));
  os::Fd own(made[0]), other(made[1]);
  PERDURE_CHECK(send_unread(other.get(), what, name_of(file)));
  if (what.peer) {
    const auto& peer = std::get<PairSocket>(files_.files[*what.peer].what);
    PERDURE_CHECK(send_unread(own.get(), peer, name_of(*what.peer)));
    PERDURE_CHECK(set_options(other.get(), peer, flags_of(*what.peer), name_of(*what.peer)));
    peers_[*what.peer] = std::move(other);
  }
  other.reset();
  PERDURE_CHECK(set_options(own.get(), what, flags_of(file), name_of(file)));
  return own;
}

}  // namespace perdure::process
