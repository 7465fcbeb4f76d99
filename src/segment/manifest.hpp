#pragma once
// What a segment or a catalog knows about one rank's part of a checkpoint. Data only; the codec is manifest_codec.
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.hpp"

namespace perdure::segment {

/// Which attempt at writing a version this is. Two attempts at the same version never mix: a version is complete only
/// when every rank's piece carries the same attempt. Ordered by time of creation.
struct Attempt {
  /// Wall clock of rank 0, nanoseconds since 1970; later than every known one (plan::attempt_time).
  std::uint64_t created_ns = 0;
  std::uint64_t nonce = 0;  ///< random
  friend auto operator<=>(const Attempt&, const Attempt&) = default;
  std::string hex() const;  ///< 32 hexadecimal digits; sorts as text like the attempt itself
};

/// One attempt at one version of one checkpoint: the identity of everything that is stored.
struct VersionId {
  std::string name;
  std::uint64_t version = 0;
  Attempt attempt;
  friend auto operator<=>(const VersionId&, const VersionId&) = default;
  std::string text() const;  ///< "nbody version 7"
};

/// A region as it was when captured. The capture of a rank is the concatenation of its regions in this order.
struct RegionEntry {
  std::int32_t id = 0;
  std::uint64_t element_bytes = 0;
  std::uint64_t count = 0;
  std::uint64_t bytes() const { return element_bytes * count; }
  friend bool operator==(const RegionEntry&, const RegionEntry&) = default;
};

/// A chunk: bytes [index * chunk_bytes, index * chunk_bytes + length) of its rank's capture.
struct ChunkEntry {
  std::uint64_t offset = 0;  ///< where it is: offset in the segment file, or (in a catalog) slot number
  std::uint64_t length = 0;  ///< bytes
  base::Hash128 hash;
  std::uint32_t place = 0;  ///< in a catalog: tier number; in a segment: 0
  friend bool operator==(const ChunkEntry&, const ChunkEntry&) = default;
};

/// One rank's part of a version.
struct Piece {
  std::uint32_t rank = 0;
  std::uint64_t chunk_bytes = 0;  ///< nominal chunk size of this capture
  std::vector<RegionEntry> regions;
  std::vector<ChunkEntry> chunks;
  std::uint64_t capture_bytes() const;
  friend bool operator==(const Piece&, const Piece&) = default;
};

/// The table at the end of a segment.
struct Manifest {
  VersionId id;
  std::uint32_t ranks = 0;          ///< of the whole version
  std::uint32_t segment_index = 0;  ///< this segment among
  std::uint32_t segment_count = 0;  ///< all segments of the version
  std::string writer;               ///< "perdure 0.1.0"
  std::vector<Piece> pieces;        ///< of the ranks in this segment, ascending by rank
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

}  // namespace perdure::segment
