#pragma once
// The segment file (docs/format/segment.md): header block, chunks at 4 KiB boundaries, manifest, trailer. Pure layout
// and codec here; reading and writing of files is in reader.hpp and in the stores.
#include <functional>
#include <optional>

#include "base/result.hpp"
#include "segment/manifest.hpp"

namespace perdure::segment {

inline constexpr std::uint64_t kAlignment = 4096;    ///< chunk offsets and the manifest's offset are multiples of it
inline constexpr std::uint32_t kFormatVersion = 3;   ///< the newest; format_of() says which one is written
inline constexpr std::uint64_t kHeaderBytes = 4096;  ///< the header block
inline constexpr std::uint64_t kTrailerBytes = 64;   ///< the last bytes of the file
inline constexpr std::uint64_t kMaxManifestBytes = 1ULL << 30;
inline constexpr std::uint64_t kMinSegmentBytes = kHeaderBytes + kAlignment;
inline constexpr std::uint32_t kNoRank = 0xFFFFFFFF;  ///< first and last rank of a segment without pieces

/// What readers take of one manifest of format 1 or 2: more is written in format 3.
inline constexpr std::uint64_t kMaxManifestItems = 4ULL << 20;

/// The format that a segment with this manifest is written in: 3 with tables, else 1 unless an entry says what only
/// format 2 can.
std::uint32_t format_of(const Manifest& manifest);

/// The header block, kHeaderBytes long: magic, format version, byte order, identity, its own hash. The rest is zero and
/// is hashed too.
std::vector<std::byte> encode_header(const Manifest& manifest);

enum class Tables { when_needed, always };  ///< always: for tests, which have no million regions to spare

/// Assigns the offset of every chunk of every piece (in order, each at the next multiple of kAlignment after
/// kHeaderBytes), and returns where the tail begins. Gaps are zero bytes. A manifest that formats 1 and 2 cannot hold
/// gets tables.
std::uint64_t lay_out(Manifest& manifest, Tables tables = Tables::when_needed);

/// Takes the bytes of a file one after the other.
using WriteAt = std::function<base::Status(std::uint64_t offset, base::ConstByteSpan data)>;
/// What ends the file, from where lay_out() said: the tables if there are any, the manifest or index (CBOR), zero
/// padding, and the trailer: magic, manifest offset, manifest length, manifest hash, file length, its own hash. One
/// table is in memory at a time.
base::Status write_tail(const Manifest& manifest, std::uint64_t tail_offset, const WriteAt& write);
/// How long that is; hashes that are not known yet make no difference.
std::uint64_t tail_bytes(const Manifest& manifest, std::uint64_t tail_offset);
/// The same in one piece.
std::vector<std::byte> encode_tail(const Manifest& manifest, std::uint64_t tail_offset);

/// Whether readers will take a segment in which this is one of the pieces: for who lets somebody rely on it.
/// PERDURE_INVALID_ARGUMENT about `object`.
base::Status check_describable(const Piece& piece, const std::string& object);
base::Status check_describable(const Manifest& manifest, const std::string& object);

struct Trailer {
  std::uint64_t manifest_offset = 0;
  std::uint64_t manifest_length = 0;
  base::Hash128 manifest_hash;
  std::uint64_t file_bytes = 0;
};

/// `object` is the path for messages; each error says which field is wrong and at which offset of the file.
base::Result<Trailer> decode_trailer(base::ConstByteSpan trailer, std::uint64_t file_bytes, const std::string& object);
/// Gives bytes of the file.
using ReadAt = std::function<base::Status(std::uint64_t offset, base::ByteSpan target)>;
/// In one pass through bounded memory: what it costs is what the manifest describes.
base::Result<Manifest> decode_manifest(const ReadAt& read, const Trailer& trailer, const std::string& object);
/// The same, but of format 3 only the index: without pieces.
base::Result<Manifest> decode_contents(const ReadAt& read, const Trailer& trailer, const std::string& object);
/// One piece of format 3.
base::Result<Piece> decode_table(const ReadAt& read, const Trailer& trailer, const Table& table,
                                 const std::string& object);
/// What the header block says by itself; enough to attribute a segment whose manifest is damaged.
struct Header {
  std::uint32_t format = 0;
  VersionId id;
  std::uint32_t ranks = 0;
  std::uint32_t segment_index = 0;
  std::uint32_t segment_count = 0;
  std::uint32_t first_rank = kNoRank;
  std::uint32_t last_rank = kNoRank;
};
/// PERDURE_UNSUPPORTED for a newer format, PERDURE_CORRUPT for everything else that is wrong.
base::Result<Header> decode_header(base::ConstByteSpan header, const std::string& object);
/// Checks the header block against the manifest that the trailer led to.
base::Status check_header(base::ConstByteSpan header, const Manifest& manifest, const std::string& object);

/// "0000-of-0002.<attempt hex>.pds": the file name of a segment; `parse` is its inverse, nothing for any other name.
std::string file_name(std::uint32_t index, std::uint32_t count, const Attempt& attempt);
struct FileName {
  std::uint32_t index = 0;
  std::uint32_t count = 0;
  Attempt attempt;
};
std::optional<FileName> parse_file_name(std::string_view name);

}  // namespace perdure::segment
