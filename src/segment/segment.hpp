#pragma once
// The segment file (docs/format/segment.md): header block, chunks at 4 KiB boundaries, manifest, trailer. Pure layout
// and codec here; reading and writing of files is in reader.hpp and in the stores.
#include <optional>

#include "base/result.hpp"
#include "segment/manifest.hpp"

namespace perdure::segment {

inline constexpr std::uint64_t kAlignment = 4096;    ///< chunk offsets and the manifest's offset are multiples of it
inline constexpr std::uint32_t kFormatVersion = 2;   ///< the newest; format_of() says which one is written
inline constexpr std::uint64_t kHeaderBytes = 4096;  ///< the header block
inline constexpr std::uint64_t kTrailerBytes = 64;   ///< the last bytes of the file
inline constexpr std::uint64_t kMaxManifestBytes = 1ULL << 30;
inline constexpr std::uint64_t kMinSegmentBytes = kHeaderBytes + kAlignment;
inline constexpr std::uint32_t kNoRank = 0xFFFFFFFF;  ///< first and last rank of a segment without pieces

/// The format that a segment with this manifest is written in: 1 unless an entry says what only format 2 can.
std::uint32_t format_of(const Manifest& manifest);

/// The header block, kHeaderBytes long: magic, format version, byte order, identity, its own hash. The rest is zero and
/// is hashed too.
std::vector<std::byte> encode_header(const Manifest& manifest);

/// Assigns the offset of every chunk of every piece (in order, each at the next multiple of kAlignment after
/// kHeaderBytes) and returns the offset of the manifest. Gaps are zero bytes.
std::uint64_t lay_out(Manifest& manifest);

/// Manifest (CBOR) followed by zero padding and the trailer, so that written at `manifest_offset` it ends the file. The
/// trailer is the file's last kTrailerBytes and holds: magic, manifest offset, manifest length, manifest hash, file
/// length, its own hash.
std::vector<std::byte> encode_tail(const Manifest& manifest, std::uint64_t manifest_offset);

/// Whether readers will take that manifest: for who writes it, before it is published. `tail` is encode_tail()'s.
base::Status check_readable(base::ConstByteSpan tail, const std::string& object);

struct Trailer {
  std::uint64_t manifest_offset = 0;
  std::uint64_t manifest_length = 0;
  base::Hash128 manifest_hash;
  std::uint64_t file_bytes = 0;
};

/// `object` is the path for messages; each error says which field is wrong and at which offset of the file.
base::Result<Trailer> decode_trailer(base::ConstByteSpan trailer, std::uint64_t file_bytes, const std::string& object);
base::Result<Manifest> decode_manifest(base::ConstByteSpan manifest, const Trailer& trailer, const std::string& object);
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
