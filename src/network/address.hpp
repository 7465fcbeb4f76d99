#pragma once
// An Address tells how to connect to an endpoint. It travels as opaque bytes through the application's communicator.
#include "network/wire.hpp"

namespace perdure::network {

/// `incarnation` is random, drawn when the endpoint is made. An endpoint restarted at the same place has another one.
struct Address {
  Bytes wire;
  std::uint64_t incarnation = 0;
  friend bool operator==(const Address&, const Address&) = default;
  std::string text() const;  ///< for messages: "127.0.0.1:4711", else hexadecimal digits; with the incarnation
};

Bytes encode(const Address& address);
/// Fails with PERDURE_CORRUPT unless the bytes are exactly one address.
base::Result<Address> decode_address(ConstByteSpan bytes);

}  // namespace perdure::network
