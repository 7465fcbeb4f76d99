#pragma once
// Captures and restores listening sockets without pending connections: TCP, and Unix sockets with a name.
#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "os/file.hpp"
#include "process/descriptors.hpp"

namespace perdure::process {

/// Facts about a listener, from a duplicate.
struct SeenListener {
  ListeningSocket socket;
  bool connections_wait = false;
  std::string unkept;  ///< why it cannot be captured; empty: it can
};
/// `socket` is a listening socket with inode number `inode`.
SeenListener look_at_listener(int socket, std::uint64_t inode);

/// Makes a socket that listens at the same address. It takes over the name that a dead listener left. PERDURE_BUSY:
/// another process listens there. `note` names options that this kernel does not take.
base::Result<os::Fd> listen_again(const ListeningSocket& what, const std::string& object, std::string& note);

/// For people: "127.0.0.1:80", "/run/x", "@x".
std::string address_text(const ListeningSocket& what);

}  // namespace perdure::process
