#pragma once
// Reads and verifies a segment through any source of bytes.
#include <functional>
#include <memory>

#include "base/hash.hpp"
#include "segment/segment.hpp"

namespace perdure::segment {

/// Some bytes of an object, in their order: what comes next may be fetched while somebody works with what came. Not
/// thread-safe.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Fills all of `target` with what comes next, and feeds to `hasher` what it got.
  virtual base::Status read(base::ByteSpan target, base::Hasher& hasher) = 0;
};

/// Random access to the bytes of one stored object. Thread-safe. Implementations: file_source.hpp, and those of stores
/// that are no files.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual std::uint64_t size() const = 0;
  virtual const std::string& name() const = 0;  ///< for messages: path or URL
  /// Tells it from another object that is put in its place later; empty: not known.
  virtual std::string identity() const { return {}; }
  /// How many bytes from `offset` on are known to be zero without reading them, as in a file that was never written
  /// there. 0 where nothing is known.
  virtual std::uint64_t zeros(std::uint64_t /*offset*/) const { return 0; }
  /// Fills all of `target` from `offset`; an error if the object ends before.
  virtual base::Status read(std::uint64_t offset, base::ByteSpan target) const = 0;
  /// For who will read so many bytes from `offset` on, in order. This object stays as long as the stream.
  virtual std::unique_ptr<ByteStream> stream(std::uint64_t offset, std::uint64_t bytes) const;
};

/// Reads trailer, manifest and header and checks them and their agreement, not the chunks. Cost: a few small reads,
/// and of format 3 all tables.
base::Result<Manifest> read_manifest(const ByteSource& source);
/// The same without the tables of format 3: what the segment is and whose pieces it has (Manifest::ranks_here).
base::Result<Manifest> read_contents(const ByteSource& source);
/// What the segment says of itself and of this rank alone: in `pieces` there is that of the rank, or none.
base::Result<Manifest> read_rank(const ByteSource& source, std::uint32_t rank);

/// The trailer of a source that is large enough to have one.
base::Result<Trailer> read_trailer(const ByteSource& source);
/// The contents that the trailer leads to, whatever the header says: for who wants to know whose a damaged segment is.
base::Result<Manifest> read_contents(const ByteSource& source, const Trailer& trailer);

/// Reads and verifies the bytes [begin, begin + target.size()) of one whole chunk into `target` (target.size() ==
/// chunk.length), hashing in the same pass.
base::Status read_chunk(const ByteSource& source, const Piece& piece, std::size_t chunk_index, base::ByteSpan target);

/// One thing wrong with a segment.
struct Defect {
  std::uint64_t offset = 0;  ///< in the file
  std::int64_t rank = -1;    ///< whose data it hits; -1 when it is not one rank's
  std::int64_t chunk = -1;   ///< index of the chunk in its rank's capture, or -1
  base::Error error;
};

/// Reads every byte: header, chunks, the zero padding between them, manifest, trailer. Returns all defects; empty when
/// the segment is good. `progress(bytes)` is called after each block. Uses two buffers of at most 4 MiB. Where
/// the source knows that bytes are zero they are not read: a file of holes costs what was written of it, and the
/// hashing of the holes that are in chunks.
std::vector<Defect> verify(const ByteSource& source, const std::function<void(std::uint64_t)>& progress);

}  // namespace perdure::segment
