#pragma once
// Unix-domain stream sockets between processes of one user.
#include <cstdint>
#include <string>

#include "os/file.hpp"

namespace perdure::os {

/// Binds and listens at `path` (replacing a dead socket), mode 0600. Paths too long for sockaddr_un go through
/// /proc/self/fd.
base::Result<Fd> listen_at(const std::string& path);
/// Takes one waiting connection whose peer has our user id (others are dropped); an invalid Fd when none is waiting.
base::Result<Fd> accept_from(const Fd& listener);
/// PERDURE_UNAVAILABLE when no process listens there.
base::Result<Fd> connect_to(const std::string& path);
/// As connect, but never waits: PERDURE_BUSY when the listener's queue is full.
base::Result<Fd> connect_at_once(const std::string& path);
/// Blocks until all is sent. A closed peer is PERDURE_UNAVAILABLE; never raises SIGPIPE.
base::Status send_all(const Fd& socket, base::ConstByteSpan data);
/// Blocks until at least one byte came; 0 at the end of the stream. `timeout_ns` 0: for ever; PERDURE_TIMEOUT.
base::Result<std::size_t> receive_some(const Fd& socket, base::ByteSpan target, std::uint64_t timeout_ns);

}  // namespace perdure::os
