#pragma once
// Private to the fabric wire: guards the port on which the provider listens. The provider accepts whoever connects, and
// keeps the connection until its other end closes it. This closes those of strangers, from outside of the provider,
// which sees connections that broke. Nothing to do where the provider has no TCP listener. (docs/adr/0030)
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
  /// `address`: of the provider's enabled endpoint.
  static base::Result<FabricDoor> open(base::ConstByteSpan address);
  /// The provider's listener, for poll(): somebody waits to be accepted. -1: there is none. It belongs to the provider.
  int listener() const { return listener_; }
  /// After each progress of the provider, by the thread that makes it; `arrived`: somebody waited to be accepted
  /// before. Looks at who is there when it is time, and closes. No other thread may be in a call of the provider, lest
  /// that closes descriptors meanwhile. `known`: endpoints that this one has something to do with.
  void guard(bool arrived, std::size_t known, std::uint64_t now_ns);

 private:
  void look(std::size_t known);
  bool has_address(int fd) const;
  void close(int fd);

  int listener_ = -1;
  sockaddr_storage address_{};
  std::optional<os::OpenDescriptors> open_;
  os::Fd nothing_, hold_;  ///< /dev/null; what is being closed, which must not take a descriptor
  std::size_t arrived_ = 0;
  std::size_t free_places_ = 0;  ///< when it looked last
  bool watching_ = false;        ///< somebody was there who had not spoken
  std::uint64_t looked_ns_ = 0;
};

}  // namespace perdure::network
