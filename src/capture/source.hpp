#pragma once
// Anything a version can be made of, and anything it can be restored to: registered memory (memory.hpp), and what else
// there may be. What is stored knows neither: entries and bytes.
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

/// How long the chunks of a capture of `total` bytes with parts of arrays are, where nobody chose: about a 16th of it,
/// whole units of 4 MiB, at most `most`. Ranks of another launch will want some of its bytes, and who needs any of a
/// chunk reads and hashes all of it.
std::uint64_t chunk_bytes_of_parts(std::uint64_t total, std::uint64_t most);

/// What a capture that begins now will consist of.
struct Description {
  std::vector<segment::RegionEntry> entries;  ///< for the manifest; their bytes follow each other in this order
  std::uint64_t bytes = 0;                    ///< the sum of theirs
};

/// How a source is read best.
struct Manner {
  /// So many threads may call read() at a time, each for a range of its own.
  unsigned threads = 1;
  /// Nothing like it follows by the same process. Slots that have no memory yet get it with what is written to them,
  /// which takes less than memory that is cleared and mapped first: for captures that follow that would be done once.
  bool once = false;
  /// Chunks are no longer than this, where nobody chose how long they are: for what may be restored a chunk at a time,
  /// in the order in which somebody waits for it. 0: as long as any.
  std::uint64_t most_chunk_bytes = 0;
};

/// One capture of one rank. Used by one thread at a time, unless manner() says otherwise.
class Source {
 public:
  virtual ~Source() = default;
  /// Called after describe().
  virtual Manner manner() const { return {}; }
  /// Called once before a capture is read; what it says holds until the capture is over.
  virtual base::Result<Description> describe() = 0;
  /// Before it is read: which attempt at a version it will be.
  virtual base::Status goes_to([[maybe_unused]] const segment::VersionId& id) { return {}; }
  /// The ranges in which read() will be asked for what was described, in this order.
  static std::vector<ChunkRange> cut(const Description& described, std::uint64_t chunk_bytes) {
    return capture::cut(described.bytes, chunk_bytes);
  }
  /// Gives the bytes of `range` to `take` in order, in as many pieces as the source likes, and together exactly those
  /// of the range. Ends with the first error of `take`, and returns it. A range may be asked for again, when a chunk
  /// has to be written to another place.
  virtual base::Status read(ChunkRange range, const std::function<base::Status(base::ConstByteSpan)>& take) = 0;
  /// All was read, and nothing is asked for again. Called before anybody is told of the capture, which a failure ends.
  virtual base::Status was_read() { return {}; }
};

}  // namespace perdure::capture
