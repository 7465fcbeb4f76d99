#pragma once
// Reads and verifies a segment through any source of bytes.
#include <functional>
#include <memory>

#include "base/hash.hpp"
#include "segment/segment.hpp"

namespace perdure::segment {

/// Bytes of an object, in their order: the next ones may be fetched while the consumer processes the last. Not
/// thread-safe.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Fills all of `target` with the next bytes, and feeds them to `hasher`.
  virtual base::Status read(base::ByteSpan target, base::Hasher& hasher) = 0;
};

/// Random access to the bytes of one stored object. Thread-safe. Implementations: file_source.hpp, and those of stores
/// without files.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual std::uint64_t size() const = 0;
  virtual const std::string& name() const = 0;  ///< for messages: path or URL
  /// Distinguishes it from another object that is put in its place later; empty: unknown.
  virtual std::string identity() const { return {}; }
  /// Returns how many bytes from `offset` on are known to be zero without reading them, as in holes of a file; 0 if
  /// unknown.
  virtual std::uint64_t zeros(std::uint64_t /*offset*/) const { return 0; }
  /// Fills all of `target` from `offset`; an error if the object ends before.
  virtual base::Status read(std::uint64_t offset, base::ByteSpan target) const = 0;
  /// Prepares reading so many bytes from `offset` on, in order. This object must outlive the stream.
  virtual std::unique_ptr<ByteStream> stream(std::uint64_t offset, std::uint64_t bytes) const;
};

/// Reads trailer, manifest and header and checks them and their agreement, but not the chunks. PERDURE_UNSUPPORTED if
/// it cannot decode one of them. It costs a few small reads, and for formats 3 and 4 those of all tables.
base::Result<Manifest> read_manifest(const ByteSource& source);
/// Does so without the tables of formats 3 and 4: identifies the segment and its ranks (Manifest::ranks_here).
base::Result<Manifest> read_contents(const ByteSource& source);
/// Reads only the segment's heading and this rank's description: `pieces` has that of the rank, or none.
base::Result<Manifest> read_rank(const ByteSource& source, std::uint32_t rank);

/// Reads the trailer of a source that is large enough to have one.
base::Result<Trailer> read_trailer(const ByteSource& source);
/// Reads the contents that the trailer points to, regardless of the header: to attribute a damaged segment.
base::Result<Manifest> read_contents(const ByteSource& source, const Trailer& trailer);

/// Reads and verifies one whole chunk into `target` (target.size() == chunk.length), hashing in the same pass.
base::Status read_chunk(const ByteSource& source, const Piece& piece, std::size_t chunk_index, base::ByteSpan target);

/// One defect of a segment.
struct Defect {
  std::uint64_t offset = 0;  ///< in the file
  std::int64_t rank = -1;    ///< the rank whose data it hits; -1 if it is not one rank's
  std::int64_t chunk = -1;   ///< index of the chunk in its rank's capture, or -1
  base::Error error;
};

/// Reads every byte: header, chunks, the zero padding between them, manifest, trailer. Returns all defects; empty if
/// the segment is good. Calls `progress(bytes)` after each block. Uses two buffers of at most 4 MiB. It does not read
/// bytes that the source knows to be zero. A file of holes costs its written bytes, and the hashing of holes in chunks.
std::vector<Defect> verify(const ByteSource& source, const std::function<void(std::uint64_t)>& progress);

}  // namespace perdure::segment
