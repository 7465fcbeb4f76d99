#pragma once
// What one has to know to connect to an endpoint. Travels as opaque bytes through the application's communicator.
#include "network/wire.hpp"

namespace perdure::network {

/// `incarnation`: random, drawn when the endpoint was made. An endpoint that was restarted at the same place is another
/// one.
struct Address {
  Bytes wire;
  std::uint64_t incarnation = 0;
  friend bool operator==(const Address&, const Address&) = default;
  std::string text() const;  ///< for messages: "127.0.0.1:4711", else hexadecimal digits; and the incarnation
};

Bytes encode(const Address& address);
/// PERDURE_CORRUPT unless the bytes are exactly one address.
base::Result<Address> decode_address(ConstByteSpan bytes);

}  // namespace perdure::network
