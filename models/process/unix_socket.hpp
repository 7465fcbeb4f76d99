#pragma once
// What a Unix socket is, and what waits in it, seen through a duplicate. Nothing of it changes, but for the peek offset
// of sockets with messages, which is set back.
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
  bool known = false;  ///< the kernel has told (socket diagnosis)
  bool named = false;
  bool connected = false;
  std::uint64_t peer = 0;  ///< its inode; 0: it was closed
  std::uint32_t shut_down = 0;
  std::uint64_t waiting = 0;  ///< bytes to read; of one that listens, connections
  std::uint32_t backlog = 0;  ///< of one that listens
};
UnixSocket look_at_socket(std::uint64_t inode);

/// Type and options; without peer and messages.
PairSocket options_of(int socket);
/// What can be read from it, in order; `ended`: nothing comes any more. PERDURE_UNSUPPORTED: descriptors are on their
/// way through it.
base::Result<std::vector<DataRun>> unread_messages(int socket, int type, bool ended);

}  // namespace perdure::process
