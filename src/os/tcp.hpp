#pragma once
// TCP listeners, for what other programs than ours ask over a network.
#include <cstdint>
#include <string>

#include "os/file.hpp"

namespace perdure::os {

struct TcpAddress {
  std::string host;
  std::uint16_t port = 0;
  std::string text() const;  ///< "127.0.0.1:9917", "[::1]:9917"
};

/// Of "HOST:PORT", "[IPV6]:PORT" or "PORT", which means 127.0.0.1. PERDURE_INVALID_ARGUMENT when it is none of them
/// (pure).
base::Result<TcpAddress> parse_tcp_address(const std::string& text);

struct TcpListener {
  Fd socket;           ///< does not block
  TcpAddress address;  ///< with the port that was taken where 0 was asked for
};
/// PERDURE_BUSY when the address is taken.
base::Result<TcpListener> listen_tcp(const TcpAddress& address);
/// Takes one waiting connection, which does not block; an invalid Fd when none is waiting.
base::Result<Fd> accept_tcp(const Fd& listener);

}  // namespace perdure::os
