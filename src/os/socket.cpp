#include "os/socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <filesystem>

#include "os/fork.hpp"
#include "os/system.hpp"
#include "os/system_call.hpp"

namespace perdure::os {
namespace {

constexpr int kBacklog = 1024;
constexpr mode_t kPrivateSocket = 0600;
constexpr time_t kConnectPatience_s = 10;
constexpr std::uint64_t kNsPerMillisecond = 1'000'000;
const std::string kNoPath = "socket";  // names a connection in messages and hooks

struct Address {
  sockaddr_un raw{};
  Fd directory;  ///< keeps the path through /proc/self/fd valid
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&raw); }
};

base::Result<Address> make_address(const std::string& path) {
  Address address;
  address.raw.sun_family = AF_UNIX;
  std::string name = path;
  if (name.size() >= sizeof address.raw.sun_path) {
    const std::filesystem::path whole(path);
    const std::string parent = whole.parent_path().string();
    address.directory = Fd(system_call({.call = "open", .path = parent, .flags = O_PATH | O_DIRECTORY | O_CLOEXEC},
                                       [&] { return ::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); }));
    if (!address.directory) return call_failed("open", parent);
    name = "/proc/self/fd/" + std::to_string(address.directory.get()) + "/" + whole.filename().string();
  }
  if (name.size() >= sizeof address.raw.sun_path) return base::fail(base::errno_error(ENAMETOOLONG, "socket", path));
  std::memcpy(address.raw.sun_path, name.c_str(), name.size() + 1);
  return address;
}

base::Result<Fd> make_socket(const std::string& path, int more_flags) {
  Fd fd(system_call({.call = "socket", .path = path},
                    [&] { return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | more_flags, 0); }));
  if (!fd) return call_failed("socket", path);
  keep_from_children(fd.get());
  return fd;
}

bool peer_is_us(const Fd& socket) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == ::geteuid();
}

// Locks the directory while we judge and replace a dead socket. Otherwise two engines would each remove the other's
// fresh socket. If directories cannot be locked (some network file systems), we go without.
Fd lock_parent(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  Fd directory(::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory)
    while (::flock(directory.get(), LOCK_EX) != 0 && errno == EINTR) {
    }
  return directory;
}

int bind_to(const Fd& socket, const Address& address, const std::string& path) {
  return system_call({.call = "bind", .path = path},
                     [&] { return ::bind(socket.get(), address.get(), sizeof address.raw); });
}

// Removes the socket at `path` if it has no listener. Fails if something else is there.
base::Status remove_dead_socket(const Address& address, const std::string& path) {
  struct stat facts {};
  if (system_call({.call = "lstat", .path = path}, [&] { return ::lstat(path.c_str(), &facts); }) < 0)
    return errno == ENOENT ? base::Status{} : call_failed("lstat", path);
  if (!S_ISSOCK(facts.st_mode))
    return base::fail(PERDURE_EXISTS, path, "bind: something that is not a socket is there");
  PERDURE_TRY(const Fd probe, make_socket(path, SOCK_NONBLOCK));
  const int result = system_call({.call = "connect", .path = path},
                                 [&] { return ::connect(probe.get(), address.get(), sizeof address.raw); });
  if (result < 0 && errno == ENOENT) return {};
  if (result < 0 && errno == ECONNREFUSED) return remove_file(path);
  if (result < 0 && errno != EAGAIN)
    return call_failed("connect", path);  // EAGAIN: the listener lives, its queue is
                                          // full
  return base::fail(PERDURE_BUSY, path, "bind: another process listens there", {}, true);
}

void set_connect_patience(const Fd& socket, time_t seconds) {
  const timeval limit{seconds, 0};
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

base::Result<Fd> connect_within(const std::string& path, time_t patience_s) {
  const bool wait = patience_s > 0;
  auto address = make_address(path);
  if (!address && address.error().code == PERDURE_NOT_FOUND) address.error().code = PERDURE_UNAVAILABLE;
  if (!address) return base::fail(std::move(address).error());
  PERDURE_TRY(Fd socket, make_socket(path, wait ? 0 : SOCK_NONBLOCK));
  // The queue of a hanging listener fills up, and connect() would wait for ever.
  if (wait) set_connect_patience(socket, patience_s);
  const int result = system_call({.call = "connect", .path = path},
                                 [&] { return ::connect(socket.get(), address->get(), sizeof address->raw); });
  if (result < 0 && (errno == ENOENT || errno == ECONNREFUSED))
    return base::fail(PERDURE_UNAVAILABLE, path, "connect: nobody listens", {}, true);
  if (result < 0 && errno == EAGAIN)
    return base::fail(wait ? PERDURE_UNAVAILABLE : PERDURE_BUSY, path, "connect: the listener accepts no connection",
                      {}, true);
  if (result < 0) return call_failed("connect", path);
  if (wait)
    set_connect_patience(socket, 0);
  else
    ::fcntl(socket.get(), F_SETFL, ::fcntl(socket.get(), F_GETFL) & ~O_NONBLOCK);
  if (!peer_is_us(socket)) return base::fail(PERDURE_PERMISSION, path, "connect: another user listens there");
  return socket;
}

// Waits for `events`; false if `deadline_ns` (0: none) passed.
base::Result<bool> wait_for(const Fd& socket, short events, std::uint64_t deadline_ns) {
  for (;;) {
    int timeout_ms = -1;
    if (deadline_ns != 0) {
      const std::uint64_t now = monotonic_ns();
      const std::uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
      timeout_ms =
          static_cast<int>(std::min<std::uint64_t>((left + kNsPerMillisecond - 1) / kNsPerMillisecond, INT_MAX));
    }
    pollfd waiting{socket.get(), events, 0};
    const int ready = ::poll(&waiting, 1, timeout_ms);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return call_failed("poll", kNoPath);
    if (ready == 0 && monotonic_ns() >= deadline_ns) return false;
  }
}

}  // namespace

base::Result<Fd> listen_at(const std::string& path) {
  PERDURE_TRY(const Address address, make_address(path));
  PERDURE_TRY(Fd socket, make_socket(path, SOCK_NONBLOCK));
  // Linux gives the socket's own mode to the name that bind() makes: others can never connect.
  if (::fchmod(socket.get(), kPrivateSocket) < 0) return call_failed("fchmod", path);
  const Fd lock = lock_parent(path);
  if (bind_to(socket, address, path) < 0) {
    if (errno != EADDRINUSE) return call_failed("bind", path);
    PERDURE_CHECK(remove_dead_socket(address, path));
    if (bind_to(socket, address, path) < 0) return call_failed("bind", path);
  }
  PERDURE_CHECK(checked_call({.call = "listen", .path = path}, [&] { return ::listen(socket.get(), kBacklog); }));
  return socket;
}

base::Result<Fd> accept_from(const Fd& listener) {
  for (;;) {
    Fd peer(system_call({.call = "accept", .path = kNoPath},
                        [&] { return ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC); }));
    if (peer) keep_from_children(peer.get());
    if (peer && peer_is_us(peer)) return peer;
    if (peer || errno == ECONNABORTED) continue;
    if (errno == EAGAIN) return Fd();
    return call_failed("accept", kNoPath);
  }
}

base::Result<Fd> connect_to(const std::string& path) { return connect_within(path, kConnectPatience_s); }

base::Result<Fd> connect_at_once(const std::string& path) { return connect_within(path, 0); }

base::Status send_all(const Fd& socket, base::ConstByteSpan data) {
  while (!data.empty()) {
    const ssize_t sent = system_call({.call = "send", .path = kNoPath, .length = data.size()},
                                     [&] { return ::send(socket.get(), data.data(), data.size(), MSG_NOSIGNAL); });
    if (sent >= 0) {
      data = data.subspan(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      PERDURE_CHECK(wait_for(socket, POLLOUT, 0));
    } else {
      return call_failed("send", kNoPath);
    }
  }
  return {};
}

base::Result<std::size_t> receive_some(const Fd& socket, base::ByteSpan target, std::uint64_t timeout_ns) {
  if (target.empty()) return base::fail(PERDURE_INVALID_ARGUMENT, kNoPath, "recv: no room for a single byte");
  const std::uint64_t start = monotonic_ns();
  const std::uint64_t deadline = timeout_ns == 0 ? 0 : start + std::min(timeout_ns, UINT64_MAX - start);
  for (;;) {
    const ssize_t got = system_call({.call = "recv", .path = kNoPath, .length = target.size()},
                                    [&] { return ::recv(socket.get(), target.data(), target.size(), MSG_DONTWAIT); });
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EAGAIN) return call_failed("recv", kNoPath);
    PERDURE_TRY(const bool ready, wait_for(socket, POLLIN, deadline));
    if (!ready) return base::fail(PERDURE_TIMEOUT, kNoPath, "recv: nothing came in time", {}, true);
  }
}

}  // namespace perdure::os
