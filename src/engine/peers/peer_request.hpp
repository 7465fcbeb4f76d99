#pragma once
// What engines ask each other: whom in the engine it is for, and what it says. (docs/adr/0015)
#include <variant>

#include "engine/recover/export_messages.hpp"
#include "network/wire.hpp"

namespace perdure::engine {

/// A GroupMessage, as it was encoded. A view of what it was read from.
struct ToReplicator {
  base::ConstByteSpan message;
  PERDURE_FIELDS(message)
};

using PeerRequest = std::variant<ToReplicator, ExportQuestion, ExportEnd>;

network::Bytes encode(const PeerRequest& request);
/// It is for the replicator, which waits for nobody.
bool is_brief(base::ConstByteSpan request);
/// PERDURE_CORRUPT unless the bytes, which have to outlive the request, are exactly one.
base::Result<PeerRequest> decode_peer_request(base::ConstByteSpan bytes);

network::Bytes encode(const ExportAnswer& answer);
base::Result<ExportAnswer> decode_export_answer(base::ConstByteSpan bytes);

}  // namespace perdure::engine
