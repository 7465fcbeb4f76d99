#pragma once
// Defines the requests that engines send each other: the part of the engine that each is for, and its content
// (docs/adr/0015).
#include <variant>

#include "engine/recover/export_messages.hpp"
#include "network/wire.hpp"

namespace perdure::engine {

/// An encoded GroupMessage. It is a view into the buffer that it was read from.
struct ToReplicator {
  base::ConstByteSpan message;
  PERDURE_FIELDS(message)
};

using PeerRequest = std::variant<ToReplicator, ExportQuestion, ExportEnd>;

network::Bytes encode(const PeerRequest& request);
/// True if it is for the replicator, which waits for nobody.
bool is_brief(base::ConstByteSpan request);
/// Fails with PERDURE_CORRUPT unless the bytes are exactly one request. They must outlive it.
base::Result<PeerRequest> decode_peer_request(base::ConstByteSpan bytes);

network::Bytes encode(const ExportAnswer& answer);
base::Result<ExportAnswer> decode_export_answer(base::ConstByteSpan bytes);

}  // namespace perdure::engine
