#include "engine/peers/peer_request.hpp"

#include "base/field_codec.hpp"

namespace perdure::engine {

network::Bytes encode(const PeerRequest& request) { return base::encode_fields(request); }

base::Result<PeerRequest> decode_peer_request(base::ConstByteSpan bytes) {
  return base::decode_fields<PeerRequest>(bytes, "message of a peer");
}

bool is_brief(base::ConstByteSpan request) {
  const auto decoded = decode_peer_request(request);
  return decoded && std::holds_alternative<ToReplicator>(*decoded);
}

network::Bytes encode(const ExportAnswer& answer) { return base::encode_fields(answer); }

base::Result<ExportAnswer> decode_export_answer(base::ConstByteSpan bytes) {
  return base::decode_fields<ExportAnswer>(bytes, "answer of a peer");
}

}  // namespace perdure::engine
