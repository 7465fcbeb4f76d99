#pragma once
// Defines the segment file (docs/format/segment.md): header block, chunks at 4 KiB boundaries, manifest, trailer. This
// is pure layout and codec; reader.hpp and the stores read and write files.
#include <functional>
#include <optional>

#include "base/result.hpp"
#include "segment/manifest.hpp"

namespace perdure::segment {

inline constexpr std::uint64_t kAlignment = 4096;    ///< chunk offsets and the manifest's offset are multiples of it
inline constexpr std::uint32_t kFormatVersion = 4;   ///< the newest; format_of() chooses the one to write
inline constexpr std::uint64_t kHeaderBytes = 4096;  ///< the header block
inline constexpr std::uint64_t kTrailerBytes = 64;   ///< the last bytes of the file
inline constexpr std::uint64_t kMaxManifestBytes = 1ULL << 30;
inline constexpr std::uint64_t kMinSegmentBytes = kHeaderBytes + kAlignment;
/// First and last rank in the header of a segment without pieces, and of format 4.
inline constexpr std::uint32_t kNoRank = 0xFFFFFFFF;
inline constexpr std::uint64_t kMaxAlignment = base::MiB;  ///< of format 4

/// Readers take so many items of one manifest of format 1 or 2: larger ones are written in format 3.
inline constexpr std::uint64_t kMaxManifestItems = 4ULL << 20;

/// Returns the format for a segment with this manifest: 4 with an alignment, 3 with tables, else 1 unless an entry
/// needs format 2.
std::uint32_t format_of(const Manifest& manifest);

/// Encodes the header block, kHeaderBytes long: magic, format version, byte order, identity, its own hash. The rest is
/// zero and is hashed, too.
std::vector<std::byte> encode_header(const Manifest& manifest);

enum class Tables { when_needed, always };  ///< always: for tests, which have no million regions

/// Assigns the offset of every chunk of every piece (in order, each at the next multiple of kAlignment after
/// kHeaderBytes). Returns where the tail begins. Gaps are zero bytes. A manifest that formats 1 and 2 cannot hold gets
/// tables. AppendWriter writes format 4.
std::uint64_t lay_out(Manifest& manifest, Tables tables = Tables::when_needed);

/// Takes the bytes of a file one after the other.
using WriteAt = std::function<base::Status(std::uint64_t offset, base::ConstByteSpan data)>;
/// Writes the end of the file, from the result of lay_out(): tables if there are any, manifest or index (CBOR), zero
/// padding, trailer. The trailer has magic, manifest offset, manifest length, manifest hash, file length, and its own
/// hash. One table is in memory at a time.
base::Status write_tail(const Manifest& manifest, std::uint64_t tail_offset, const WriteAt& write);
/// Returns the length of that; unknown hashes make no difference.
std::uint64_t tail_bytes(const Manifest& manifest, std::uint64_t tail_offset);
/// Encodes it in one piece.
std::vector<std::byte> encode_tail(const Manifest& manifest, std::uint64_t tail_offset);

/// Fails with PERDURE_INVALID_ARGUMENT about `object` unless readers will take a segment with this piece. Call it
/// before anybody relies on the piece.
base::Status check_describable(const Piece& piece, const std::string& object, PieceForm form = PieceForm::placed);
base::Status check_describable(const Manifest& manifest, const std::string& object);

struct Trailer {
  std::uint64_t manifest_offset = 0;
  std::uint64_t manifest_length = 0;
  base::Hash128 manifest_hash;
  std::uint64_t file_bytes = 0;
};

/// `object` is the path for messages; each error names the wrong field and its offset in the file.
base::Result<Trailer> decode_trailer(base::ConstByteSpan trailer, std::uint64_t file_bytes, const std::string& object);
/// Reads bytes of the file.
using ReadAt = std::function<base::Status(std::uint64_t offset, base::ByteSpan target)>;
/// Decodes in one pass through bounded memory: the cost follows the content, not its claims.
base::Result<Manifest> decode_manifest(const ReadAt& read, const Trailer& trailer, const std::string& object);
/// Does so, but for formats 3 and 4 decodes only the index: without pieces.
base::Result<Manifest> decode_contents(const ReadAt& read, const Trailer& trailer, const std::string& object);
/// Decodes the piece of one table of these contents.
base::Result<Piece> decode_table(const ReadAt& read, const Trailer& trailer, const Manifest& contents,
                                 const Table& table, const std::string& object);
/// The content of the header block, which suffices to attribute a segment whose manifest is damaged.
struct Header {
  std::uint32_t format = 0;
  VersionId id;
  std::uint32_t ranks = 0;
  std::uint32_t segment_index = 0;
  std::uint32_t segment_count = 0;
  std::uint32_t first_rank = kNoRank;
  std::uint32_t last_rank = kNoRank;
};
/// Fails with PERDURE_UNSUPPORTED for a newer format, with PERDURE_CORRUPT for every other defect.
base::Result<Header> decode_header(base::ConstByteSpan header, const std::string& object);
/// Checks the header block against the manifest that the trailer points to.
base::Status check_header(base::ConstByteSpan header, const Manifest& manifest, const std::string& object);

/// Returns "0000-of-0002.<attempt hex>.pds", the file name of a segment; `parse` is its inverse, nothing for any other
/// name.
std::string file_name(std::uint32_t index, std::uint32_t count, const Attempt& attempt);
struct FileName {
  std::uint32_t index = 0;
  std::uint32_t count = 0;
  Attempt attempt;
};
std::optional<FileName> parse_file_name(std::string_view name);

}  // namespace perdure::segment
