#pragma once
// A version is made of a source, and restored to a target. Registered memory is both (memory.hpp). Stored versions know
// neither: they are entries and bytes.
#include <cstdint>
#include <functional>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "segment/manifest.hpp"

namespace perdure::capture {

/// Bytes [begin, begin + length) of a rank's capture.
struct ChunkRange {
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  std::uint64_t end() const { return begin + length; }
  friend bool operator==(const ChunkRange&, const ChunkRange&) = default;
};

/// Cuts `total` bytes into chunks of `chunk_bytes` (> 0), the last one shorter; none for an empty capture. All captures
/// are cut like this, whatever their source (docs/format/segment.md).
std::vector<ChunkRange> cut(std::uint64_t total, std::uint64_t chunk_bytes);

/// Returns the chunk length of a capture of `total` bytes with parts of arrays, if nobody chose one. It is about a 16th
/// of it, whole units of 4 MiB, at most `most`. Ranks of another launch will want some of its bytes, and must read and
/// hash whole chunks.
std::uint64_t chunk_bytes_of_parts(std::uint64_t total, std::uint64_t most);

/// The content of a capture that begins now.
struct Description {
  std::vector<segment::RegionEntry> entries;  ///< for the manifest; their bytes follow each other in this order
  std::uint64_t bytes = 0;                    ///< the sum of theirs
};

/// The best way to read a source.
struct Manner {
  /// So many threads may call read() at a time, each for a range of its own.
  unsigned threads = 1;
  /// No similar capture by the same process follows. Slots without memory get it with their first write, which is
  /// cheaper than clearing and mapping it first. For later captures that would be done once.
  bool once = false;
  /// The longest chunks, if nobody chose their length; 0: no limit. Short chunks serve lazy restores, which restore one
  /// chunk at a time in the order of demand.
  std::uint64_t most_chunk_bytes = 0;
};

/// One capture of one rank. One thread at a time uses it, unless manner() allows more.
class Source {
 public:
  virtual ~Source() = default;
  /// Called after describe().
  virtual Manner manner() const { return {}; }
  /// Called once before a capture is read; the description holds until the capture is over.
  virtual base::Result<Description> describe() = 0;
  /// Called before it is read: names the attempt at a version.
  virtual base::Status goes_to([[maybe_unused]] const segment::VersionId& id) { return {}; }
  /// Returns the ranges in which read() will be called for the description, in this order.
  static std::vector<ChunkRange> cut(const Description& described, std::uint64_t chunk_bytes) {
    return capture::cut(described.bytes, chunk_bytes);
  }
  /// Passes the bytes of `range` to `take` in order, in any number of pieces, together exactly the range. Ends with the
  /// first error of `take`, and returns it. A range may be read again if a chunk has to be written to another place.
  virtual base::Status read(ChunkRange range, const std::function<base::Status(base::ConstByteSpan)>& take) = 0;
  /// All was read, and nothing is asked for again. Called before anybody is told of the capture, which a failure ends.
  virtual base::Status was_read() { return {}; }
};

}  // namespace perdure::capture
