#pragma once
// Listens on TCP for queries of foreign programs over a network.
#include <cstdint>
#include <string>

#include "os/file.hpp"

namespace perdure::os {

struct TcpAddress {
  std::string host;
  std::uint16_t port = 0;
  std::string text() const;  ///< "127.0.0.1:9917", "[::1]:9917"
};

/// Parses "HOST:PORT", "[IPV6]:PORT" or "PORT", which means 127.0.0.1. Fails with PERDURE_INVALID_ARGUMENT (pure).
base::Result<TcpAddress> parse_tcp_address(const std::string& text);

struct TcpListener {
  Fd socket;           ///< nonblocking
  TcpAddress address;  ///< with the chosen port if port 0 was asked for
};
/// Fails with PERDURE_BUSY if the address is taken.
base::Result<TcpListener> listen_tcp(const TcpAddress& address);
/// Accepts one waiting connection, which is nonblocking; an invalid Fd if none is waiting.
base::Result<Fd> accept_tcp(const Fd& listener);

}  // namespace perdure::os
