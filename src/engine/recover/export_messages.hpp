#pragma once
// By these messages a recovering engine learns what another one exports. Each may arrive twice, late, or after one that
// was sent later. Everything received is checked before anybody acts on it (docs/adr/0020).
#include <cstdint>
#include <vector>

#include "base/fields.hpp"
#include "engine/replicate/encoding.hpp"
#include "segment/manifest.hpp"

namespace perdure::engine {

/// Asks for the node's pieces of these ranks, and its redundancy of these ranks' groups. Its slots of them stay as they
/// are until ExportEnd or the end of the connection. A long answer is requested part by part.
struct ExportQuestion {
  std::uint64_t recovery = 0;  ///< a random number that names the recovery to both sides
  segment::VersionId id;
  std::vector<std::uint32_t> pieces;
  std::vector<std::uint32_t> redundancy;
  std::uint64_t offset = 0;  ///< of the wanted part of the answer
  PERDURE_FIELDS(recovery, id, pieces, redundancy, offset)
};

/// A part of encoded ExportedPieces.
struct ExportAnswer {
  bool ready = false;       ///< false: ask again later
  std::uint64_t bytes = 0;  ///< of all parts together
  std::vector<std::byte> part;
  PERDURE_FIELDS(ready, bytes, part)
  std::string wrong() const {
    return part.size() <= bytes && (ready || part.empty()) ? "" : "field 'part' is longer than the whole";
  }
};

/// The recovery is over, and the blocks exported for it may change. The exporter itself checks the suspects, which did
/// not match their hashes for the asker. It records each that it finds damaged.
struct ExportEnd {
  static constexpr std::size_t kMostSuspects = 1024;
  std::uint64_t recovery = 0;
  std::vector<BlockPlace> suspects = {};
  PERDURE_FIELDS(recovery, suspects)
  std::string wrong() const {
    return suspects.size() <= kMostSuspects ? "" : "field 'suspects' has more than 1024 blocks";
  }
};

}  // namespace perdure::engine
