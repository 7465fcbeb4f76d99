#pragma once
// What the engine that recovers says to another one, to learn what that one exports. Each message may come twice, late,
// or after the one that was sent later. Everything received is checked before anybody acts on it.
// (docs/adr/0020)
#include <cstdint>
#include <vector>

#include "base/fields.hpp"
#include "engine/replicate/encoding.hpp"
#include "segment/manifest.hpp"

namespace perdure::engine {

/// What do you have of these ranks' pieces, and of the redundancy of these ranks' groups? Its slots stay as they are
/// from then on, until ExportEnd or the end of the connection. An answer that is long is asked for part by part.
struct ExportQuestion {
  std::uint64_t recovery = 0;  ///< a random number: names the recovery to both sides
  segment::VersionId id;
  std::vector<std::uint32_t> pieces;
  std::vector<std::uint32_t> redundancy;
  std::uint64_t offset = 0;  ///< of the part of the answer that is wanted
  PERDURE_FIELDS(recovery, id, pieces, redundancy, offset)
};

/// Part of encoded ExportedPieces.
struct ExportAnswer {
  bool ready = false;       ///< otherwise: ask again in a while
  std::uint64_t bytes = 0;  ///< of all parts together
  std::vector<std::byte> part;
  PERDURE_FIELDS(ready, bytes, part)
  std::string wrong() const {
    return part.size() <= bytes && (ready || part.empty()) ? "" : "field 'part' is longer than the whole";
  }
};

/// The recovery is over: what was exported for it may change. What did not match its hash for the asker is looked at by
/// the exporter itself, which records it if it sees the same.
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
