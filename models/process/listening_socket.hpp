#pragma once
// Sockets that listen, and have no connection that nobody has taken yet: TCP, and Unix with a name.
#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "os/file.hpp"
#include "process/descriptors.hpp"

namespace perdure::process {

/// A duplicate of the socket shows this.
struct SeenListener {
  ListeningSocket socket;
  bool connections_wait = false;
  std::string unkept;  ///< why it cannot be kept; empty: it can
};
/// `socket` listens, and `inode` is its number.
SeenListener look_at_listener(int socket, std::uint64_t inode);

/// It listens where it did. A name that a dead listener left is its own again. PERDURE_BUSY: another process listens
/// there. Options that this kernel does not take are told in `note`.
base::Result<os::Fd> listen_again(const ListeningSocket& what, const std::string& object, std::string& note);

/// For people: "127.0.0.1:80", "/run/x", "@x".
std::string address_text(const ListeningSocket& what);

}  // namespace perdure::process
