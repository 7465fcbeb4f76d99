#include "os/tcp.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <charconv>
#include <memory>

#include "os/fork.hpp"
#include "os/system_call.hpp"

namespace perdure::os {
namespace {

constexpr int kTcpBacklog = 64;

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

base::Result<Addresses> resolve(const TcpAddress& address) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &wanted, &found);
  if (error != 0)
    return base::fail(PERDURE_INVALID_ARGUMENT, address.text(), std::string("resolve: ") + ::gai_strerror(error),
                      "give an address of this machine, such as 127.0.0.1");
  return Addresses(found, &::freeaddrinfo);
}

std::uint16_t port_of(const Fd& socket) {
  sockaddr_storage own{};
  socklen_t bytes = sizeof own;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &bytes) != 0) return 0;
  if (own.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(own).sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in&>(own).sin_port);
}

base::Error malformed(const std::string& text) {
  return {PERDURE_INVALID_ARGUMENT, "address '" + text + "'", "it is not ADDRESS:PORT",
          "give one such as 127.0.0.1:9917 or [::1]:9917; a port alone means 127.0.0.1", false};
}

}  // namespace

std::string TcpAddress::text() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

base::Result<TcpAddress> parse_tcp_address(const std::string& text) {
  TcpAddress address{"127.0.0.1", 0};
  std::string port = text;
  if (const std::size_t colon = text.rfind(':'); colon != std::string::npos) {
    address.host = text.substr(0, colon);
    port = text.substr(colon + 1);
    const bool bracketed = address.host.starts_with('[') && address.host.ends_with(']');
    if (bracketed) address.host = address.host.substr(1, address.host.size() - 2);
    if (bracketed != (address.host.find(':') != std::string::npos)) return base::fail(malformed(text));
  }
  const auto read = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (address.host.empty() || port.empty() || read.ec != std::errc() || read.ptr != port.data() + port.size())
    return base::fail(malformed(text));
  return address;
}

base::Result<TcpListener> listen_tcp(const TcpAddress& address) {
  PERDURE_TRY(const Addresses found, resolve(address));
  const std::string name = address.text();
  Fd socket(system_call({.call = "socket", .path = name},
                        [&] { return ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }));
  if (!socket) return call_failed("socket", name);
  keep_from_children(socket.get());
  const int on = 1;  // a recently ended process must not keep its successor from the port
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const int bound = system_call({.call = "bind", .path = name},
                                [&] { return ::bind(socket.get(), found->ai_addr, found->ai_addrlen); });
  if (bound < 0 && errno == EADDRINUSE)
    return base::fail(PERDURE_BUSY, name, "bind: somebody listens there already", "choose another port", true);
  if (bound < 0) return call_failed("bind", name);
  PERDURE_CHECK(checked_call({.call = "listen", .path = name}, [&] { return ::listen(socket.get(), kTcpBacklog); }));
  TcpListener listener{std::move(socket), address};
  listener.address.port = port_of(listener.socket);
  return listener;
}

base::Result<Fd> accept_tcp(const Fd& listener) {
  for (;;) {
    Fd peer(system_call({.call = "accept", .path = "tcp"},
                        [&] { return ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK); }));
    if (peer) return peer;
    if (errno == EAGAIN) return Fd();
    if (errno != ECONNABORTED) return call_failed("accept", "tcp");
  }
}

}  // namespace perdure::os
