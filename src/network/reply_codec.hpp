#pragma once
// Encodes a handler's result as the bytes of a reply: a value, or its error.
#include "network/wire.hpp"

namespace perdure::network {

Bytes encode_reply(const base::Result<Bytes>& outcome);
/// Returns the value, or the handler's error; PERDURE_CORRUPT if the bytes are neither.
base::Result<Bytes> decode_reply(Bytes reply);

}  // namespace perdure::network
