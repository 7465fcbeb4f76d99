#pragma once
// Looks at Unix sockets and their unread messages through a duplicate. It changes nothing, except that it sets and
// restores the peek offset of sockets with messages.
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "process/descriptors.hpp"

namespace perdure::process {

struct SocketKind {
  int domain = 0, type = 0, protocol = 0;
  bool listens = false;
};
std::optional<SocketKind> kind_of_socket(int socket);

struct UnixSocket {
  bool known = false;  ///< the kernel has told about it (socket diagnosis)
  bool named = false;
  bool connected = false;
  std::uint64_t peer = 0;  ///< inode of the peer; 0: closed
  std::uint32_t shut_down = 0;
  std::uint64_t waiting = 0;  ///< bytes to read; connections, if it listens
  std::uint32_t backlog = 0;  ///< if it listens
};
UnixSocket look_at_socket(std::uint64_t inode);

/// Returns type and options, without peer and messages.
PairSocket options_of(int socket);
/// Returns the readable data, in order. `ended`: no more can come. PERDURE_UNSUPPORTED: descriptors are in transit
/// through it.
base::Result<std::vector<DataRun>> unread_messages(int socket, int type, bool ended);

}  // namespace perdure::process
