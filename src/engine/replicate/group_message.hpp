#pragma once
// The engines of a group exchange these messages about a version's redundancy. Each may come twice or never, and its
// statement holds from then on. Everything received is checked here before anybody acts on it.
#include <string>
#include <variant>
#include <vector>

#include "base/fields.hpp"
#include "engine/replicate/encoding.hpp"

namespace perdure::engine {

/// Announces the pieces that this position's ranks have, the group it believes to be in, and the blocks that can be
/// read already.
struct Announce {
  std::string scheme;
  unsigned members = 0;
  unsigned parities = 0;
  std::uint32_t group = 0;
  std::uint32_t ranks = 0;  ///< of the whole version
  std::vector<segment::Piece> pieces;
  std::vector<OfferedBlock> blocks = {};  ///< as in Offer
  PERDURE_FIELDS(scheme, members, parities, group, ranks, pieces, blocks)
  std::string wrong() const;
};
/// Offers blocks of this position that are in their slots.
struct Offer {
  std::vector<OfferedBlock> blocks;
  PERDURE_FIELDS(blocks)
};
/// Reports that this position keeps all that it has to keep.
struct Keeps {
  PERDURE_FIELDS()
};
/// Reports that this position's part of the version is in the store.
struct Stored {
  PERDURE_FIELDS()
};
/// Reports that this position will not do its part. The version stays at its lower level for the whole group.
struct Withdraw {
  std::string why;
  PERDURE_FIELDS(why)
};

struct GroupMessage {
  catalog::RedundancyId id;
  unsigned position = 0;  ///< of the sender, or of the parity server that it speaks for
  std::variant<Announce, Offer, Keeps, Stored, Withdraw> body;
  PERDURE_FIELDS(id, position, body)
  std::string wrong() const { return position <= 64 ? "" : "field 'position' is beyond 64"; }
};

/// A reason is cut after 1000 bytes, by the sender and by the receiver.
std::vector<std::byte> encode(const GroupMessage& message);
/// Fails with PERDURE_CORRUPT if anything is missing or out of range.
base::Result<GroupMessage> decode_group_message(base::ConstByteSpan bytes);

}  // namespace perdure::engine
