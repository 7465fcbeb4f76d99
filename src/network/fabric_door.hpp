#pragma once
// Guards the provider's listening port. Private to the fabric wire. The provider accepts every caller, and keeps the
// connection until its other end closes it. This closes those of strangers from outside of the provider, which sees
// broken connections. It does nothing if the provider has no TCP listener. (docs/adr/0030)
#include <sys/socket.h>

#include <optional>

#include "network/callers.hpp"
#include "network/wire.hpp"
#include "os/descriptors.hpp"
#include "os/file.hpp"

namespace perdure::network {

class FabricDoor {
 public:
  FabricDoor() = default;
  /// `address` is that of the provider's enabled endpoint.
  static base::Result<FabricDoor> open(base::ConstByteSpan address);
  /// Returns the provider's listener, for poll(): readable if a caller waits to be accepted. -1: there is none. It
  /// belongs to the provider.
  int listener() const { return listener_; }
  /// The thread that makes progress calls it after each progress of the provider; `arrived` says that a caller waited
  /// before. It examines callers when that is due, and closes some. No other thread may be in a call of the provider,
  /// which could close descriptors meanwhile. `known` counts endpoints that this one has relations with.
  void guard(bool arrived, std::size_t known, std::uint64_t now_ns);

 private:
  void look(std::size_t known);
  bool has_address(int fd) const;
  void close(int fd);

  int listener_ = -1;
  sockaddr_storage address_{};
  std::optional<os::OpenDescriptors> open_;
  os::Fd nothing_, hold_;  ///< /dev/null; the one being closed, which must not need a new descriptor
  std::size_t arrived_ = 0;
  std::size_t free_places_ = 0;  ///< at the last examination
  bool watching_ = false;        ///< a caller was there that had not spoken
  std::uint64_t looked_ns_ = 0;
};

}  // namespace perdure::network
