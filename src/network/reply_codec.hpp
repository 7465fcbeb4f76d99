#pragma once
// What a handler gave, as the bytes of a reply: a value, or its error.
#include "network/wire.hpp"

namespace perdure::network {

Bytes encode_reply(const base::Result<Bytes>& outcome);
/// The value, or the handler's error; PERDURE_CORRUPT when the bytes are neither.
base::Result<Bytes> decode_reply(Bytes reply);

}  // namespace perdure::network
