#include "process/listening_socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "process/unix_socket.hpp"

namespace perdure::process {
namespace {

constexpr std::array<std::pair<int, int>, 13> kKeptOptions = {{{SOL_SOCKET, SO_REUSEADDR},
                                                               {SOL_SOCKET, SO_REUSEPORT},
                                                               {SOL_SOCKET, SO_KEEPALIVE},
                                                               {SOL_SOCKET, SO_PASSCRED},
                                                               {SOL_SOCKET, SO_OOBINLINE},
                                                               {IPPROTO_IPV6, IPV6_V6ONLY},
                                                               {IPPROTO_TCP, TCP_NODELAY},
                                                               {IPPROTO_TCP, TCP_DEFER_ACCEPT},
                                                               {IPPROTO_TCP, TCP_FASTOPEN},
                                                               {IPPROTO_TCP, TCP_KEEPIDLE},
                                                               {IPPROTO_TCP, TCP_KEEPINTVL},
                                                               {IPPROTO_TCP, TCP_KEEPCNT},
                                                               {IPPROTO_TCP, TCP_USER_TIMEOUT}}};

bool belongs_to(int level, const ListeningSocket& what) {
  return level == SOL_SOCKET || (level == IPPROTO_TCP && what.domain != AF_UNIX) ||
         (level == IPPROTO_IPV6 && what.domain == AF_INET6);
}

std::int32_t option_of(int socket, int level, int name) {
  int value = 0;
  socklen_t length = sizeof value;
  return ::getsockopt(socket, level, name, &value, &length) == 0 ? value : 0;
}

bool set_option_of(int socket, int level, int name, int value) {
  return ::setsockopt(socket, level, name, &value, sizeof value) == 0;
}

bool is_bound_to_a_device(int socket) {
  std::array<char, 64> name{};
  socklen_t length = name.size();
  return ::getsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, name.data(), &length) == 0 && length > 0 && name[0] != '\0';
}

bool has_a_filter(int socket) {
  socklen_t length = 0;
  return ::getsockopt(socket, SOL_SOCKET, SO_GET_FILTER, nullptr, &length) == 0 && length > 0;
}

void look_at_queue(int socket, std::uint64_t inode, SeenListener& seen) {
  if (seen.socket.domain == AF_UNIX) {
    const UnixSocket told = look_at_socket(inode);
    if (!told.known) seen.unkept = "a Unix socket of which the kernel tells nothing (unix_diag)";
    seen.connections_wait = told.waiting != 0;
    seen.socket.backlog = told.backlog;
    return;
  }
  tcp_info info{};
  socklen_t length = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0)
    seen.unkept = "a TCP socket of which the kernel tells nothing";
  seen.connections_wait = info.tcpi_unacked != 0;  // of a listener: connections not accepted yet
  seen.socket.backlog = info.tcpi_sacked;
}

/// Returns the socket's path in a file system; empty if it has none.
std::string path_of(const ListeningSocket& what) {
  constexpr std::size_t kPath = offsetof(sockaddr_un, sun_path);
  if (what.domain != AF_UNIX || what.address.size() <= kPath || what.address[kPath] == std::byte{0}) return "";
  const auto* const path = reinterpret_cast<const char*>(what.address.data()) + kPath;
  return std::string(path, ::strnlen(path, what.address.size() - kPath));
}

bool binds(int socket, const ListeningSocket& what) {
  return ::bind(socket, reinterpret_cast<const sockaddr*>(what.address.data()),
                static_cast<socklen_t>(what.address.size())) == 0;
}

/// Returns whether the listener of that name is gone: nobody accepts a connection.
bool is_left_behind(const ListeningSocket& what) {
  struct stat status {};
  if (::lstat(path_of(what).c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return false;
  const os::Fd caller(::socket(AF_UNIX, static_cast<int>(what.type) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return caller &&
         ::connect(caller.get(), reinterpret_cast<const sockaddr*>(what.address.data()),
                   static_cast<socklen_t>(what.address.size())) != 0 &&
         errno == ECONNREFUSED;
}

base::Status bind_again(int socket, const ListeningSocket& what, const std::string& object) {
  if (what.domain != AF_UNIX)
    (void)set_option_of(socket, SOL_SOCKET, SO_REUSEADDR, 1);  // closed connections may
                                                               // linger (TIME_WAIT)
  if (binds(socket, what)) return {};
  const std::string path = path_of(what);
  if (errno == EADDRINUSE && !path.empty() && is_left_behind(what) && ::unlink(path.c_str()) == 0 &&
      binds(socket, what))
    return {};
  if (errno == EADDRINUSE)
    return base::fail(PERDURE_BUSY, object, "another process listens at " + address_text(what), "end that one", true);
  return base::fail(base::errno_error(errno, "bind to " + address_text(what), object));
}

}  // namespace

std::string address_text(const ListeningSocket& what) {
  if (what.domain == AF_UNIX) {
    const std::string path = path_of(what);
    constexpr std::size_t kName = offsetof(sockaddr_un, sun_path) + 1;
    if (!path.empty() || what.address.size() < kName) return path;
    return "@" + std::string(reinterpret_cast<const char*>(what.address.data()) + kName, what.address.size() - kName);
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (what.domain == AF_INET && what.address.size() == sizeof(sockaddr_in)) {
    sockaddr_in address{};
    std::memcpy(&address, what.address.data(), sizeof address);
    ::inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
    return std::string(text.data()) + ":" + std::to_string(ntohs(address.sin_port));
  }
  if (what.address.size() != sizeof(sockaddr_in6)) return "";
  sockaddr_in6 address{};
  std::memcpy(&address, what.address.data(), sizeof address);
  ::inet_ntop(AF_INET6, &address.sin6_addr, text.data(), text.size());
  return "[" + std::string(text.data()) + "]:" + std::to_string(ntohs(address.sin6_port));
}

SeenListener look_at_listener(int socket, std::uint64_t inode) {
  SeenListener seen;
  const auto kind = kind_of_socket(socket);
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (!kind || ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0 || length > sizeof address) {
    seen.unkept = "a socket that listens, of which the kernel tells nothing";
    return seen;
  }
  seen.socket.domain = static_cast<std::uint32_t>(kind->domain);
  seen.socket.type = static_cast<std::uint32_t>(kind->type);
  seen.socket.protocol = static_cast<std::uint32_t>(kind->protocol);
  const auto* const bytes = reinterpret_cast<const std::byte*>(&address);
  seen.socket.address.assign(bytes, bytes + length);
  look_at_queue(socket, inode, seen);
  for (const auto& [level, name] : kKeptOptions)
    if (belongs_to(level, seen.socket))
      if (const auto value = option_of(socket, level, name); value != 0)
        seen.socket.options.push_back({level, name, value});
  const std::string path = path_of(seen.socket);
  struct stat status {};
  if (!path.empty() && ::lstat(path.c_str(), &status) == 0) seen.socket.permissions = status.st_mode & 07777;
  if (seen.socket.wrong().empty() && (path.empty() || path.front() == '/') && !is_bound_to_a_device(socket) &&
      !has_a_filter(socket))
    return seen;
  if (seen.unkept.empty()) seen.unkept = "a socket that listens, of a kind that is not captured";
  return seen;
}

base::Result<os::Fd> listen_again(const ListeningSocket& what, const std::string& object, std::string& note) {
  os::Fd socket(::socket(static_cast<int>(what.domain), static_cast<int>(what.type) | SOCK_CLOEXEC,
                         static_cast<int>(what.protocol)));
  if (!socket) return base::fail(base::errno_error(errno, "socket", object));
  bool all_set = true;
  for (const SocketOption& one : what.options)
    all_set = set_option_of(socket.get(), one.level, one.name, one.value) && all_set;
  PERDURE_CHECK(bind_again(socket.get(), what, object));
  bool reuses = false;
  for (const SocketOption& one : what.options) reuses = reuses || (one.level == SOL_SOCKET && one.name == SO_REUSEADDR);
  if (what.domain != AF_UNIX && !reuses) (void)set_option_of(socket.get(), SOL_SOCKET, SO_REUSEADDR, 0);
  if (const std::string path = path_of(what); !path.empty() && what.permissions != 0)
    all_set = ::chmod(path.c_str(), what.permissions) == 0 && all_set;
  if (::listen(socket.get(), static_cast<int>(what.backlog)) != 0)
    return base::fail(base::errno_error(errno, "listen at " + address_text(what), object));
  if (!all_set) note = "not all options of the socket that listens at " + address_text(what) + " could be set";
  return socket;
}

}  // namespace perdure::process
