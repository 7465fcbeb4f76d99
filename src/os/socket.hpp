#pragma once
// Connects processes of one user by Unix-domain stream sockets.
#include <cstdint>
#include <string>

#include "os/file.hpp"

namespace perdure::os {

/// Binds and listens at `path`, mode 0600, and replaces a dead socket. Paths too long for sockaddr_un go through
/// /proc/self/fd.
base::Result<Fd> listen_at(const std::string& path);
/// Accepts one waiting connection of our own user, and drops others'; an invalid Fd if none is waiting.
base::Result<Fd> accept_from(const Fd& listener);
/// Connects; PERDURE_UNAVAILABLE if no process listens there.
base::Result<Fd> connect_to(const std::string& path);
/// Connects, but never waits: PERDURE_BUSY if the listener's queue is full.
base::Result<Fd> connect_at_once(const std::string& path);
/// Blocks until all is sent. A closed peer is PERDURE_UNAVAILABLE; never raises SIGPIPE.
base::Status send_all(const Fd& socket, base::ConstByteSpan data);
/// Blocks until at least one byte came, and returns the count; 0 at the end of the stream. Fails with PERDURE_TIMEOUT
/// after `timeout_ns` (0: waits for ever).
base::Result<std::size_t> receive_some(const Fd& socket, base::ByteSpan target, std::uint64_t timeout_ns);

}  // namespace perdure::os
