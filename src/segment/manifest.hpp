#pragma once
// Describes one rank's part of a checkpoint for segments and catalogs. Data only; the codec is manifest_codec.
#include <compare>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/fields.hpp"
#include "base/hash.hpp"

namespace perdure::segment {

/// Identifies an attempt at writing a version. Two attempts at the same version never mix: a version is complete only
/// if every rank's piece has the same attempt. Ordered by time of creation.
struct Attempt {
  /// Wall clock of rank 0, nanoseconds since 1970; later than every known one (plan::attempt_time).
  std::uint64_t created_ns = 0;
  std::uint64_t nonce = 0;  ///< random, and the branch (plan::branch_of)
  friend auto operator<=>(const Attempt&, const Attempt&) = default;
  std::string hex() const;  ///< 32 hexadecimal digits; sorts as text like the attempt itself
  PERDURE_FIELDS(created_ns, nonce)
};

/// One attempt at one version of one checkpoint: the identity of everything that is stored.
struct VersionId {
  std::string name;
  std::uint64_t version = 0;
  Attempt attempt;
  friend auto operator<=>(const VersionId&, const VersionId&) = default;
  std::string text() const;  ///< "nbody version 7"
  PERDURE_FIELDS(name, version, attempt)
  std::string wrong() const;  ///< the defect: its name is invalid, or its version is not below 2^63
};

/// The origin of an entry. Stored segments have these numbers: none ever changes its meaning.
enum class EntryKind : std::uint32_t {
  memory = 0,  ///< memory that the program registered
  opaque = 1,  ///< bytes whose meaning only their source knows
  array = 2,   ///< a part of an array that all ranks share (array_entry.hpp)
};
const char* kind_name(EntryKind kind);
constexpr EntryKind greatest(EntryKind) { return EntryKind::array; }

/// A source's statement about an entry; readers keep attributes that they do not know, and ignore them.
using AttributeValue = std::variant<bool, std::int64_t, std::string, std::vector<std::byte>, std::vector<std::int64_t>>;
/// Most entries have none, and a node may have a hundred million entries: without attributes they cost a pointer.
class Attributes {
 public:
  using Map = std::map<std::string, AttributeValue>;
  Attributes() = default;
  Attributes(std::initializer_list<Map::value_type> list) : Attributes(Map(list)) {}
  explicit Attributes(Map map) : map_(map.empty() ? nullptr : std::make_unique<Map>(std::move(map))) {}
  Attributes(const Attributes& other) : Attributes(other.map()) {}
  Attributes(Attributes&&) noexcept = default;
  Attributes& operator=(const Attributes& other) { return *this = Attributes(other.map()); }
  Attributes& operator=(Attributes&&) noexcept = default;
  ~Attributes() = default;
  const Map& map() const;
  bool empty() const { return map().empty(); }
  std::size_t size() const { return map().size(); }
  Map::const_iterator begin() const { return map().begin(); }
  Map::const_iterator end() const { return map().end(); }
  AttributeValue& operator[](const std::string& key);
  void clear() { map_.reset(); }
  friend bool operator==(const Attributes& a, const Attributes& b) { return a.map() == b.map(); }

 private:
  std::unique_ptr<Map> map_;
};
inline constexpr std::size_t kMaxAttributes = 64;  ///< of one entry
inline constexpr std::size_t kMaxAttributeKey = 64;
inline constexpr std::size_t kMaxAttributeBytes = 4096;  ///< of a text or byte string
inline constexpr std::size_t kMaxAttributeItems = 1024;  ///< of a list of numbers

/// An entry of a capture: a region as it was captured, or another part of the source. The capture of a rank is the
/// concatenation of its entries in this order.
struct RegionEntry {
  std::int32_t id = 0;
  std::uint64_t element_bytes = 0;
  std::uint64_t count = 0;
  EntryKind kind = EntryKind::memory;
  Attributes attributes = {};
  std::uint64_t bytes() const { return element_bytes * count; }
  /// Whether it is memory without attributes: format 1 knows no other entries.
  bool plain() const { return kind == EntryKind::memory && attributes.empty(); }
  friend bool operator==(const RegionEntry&, const RegionEntry&) = default;
  PERDURE_FIELDS(id, element_bytes, count, kind, attributes)
};

/// How the bytes of a chunk were changed before they were stored. Stored segments have these numbers: none ever changes
/// its meaning, and readers meet numbers that they do not know.
enum class Encoding : std::uint32_t {
  none = 0,       ///< stored as they are
  zstd = 1,       ///< reserved for compressed bytes
  encrypted = 2,  ///< reserved for sealed bytes
};

/// A chunk: bytes [index * chunk_bytes, index * chunk_bytes + length) of its rank's capture.
struct ChunkEntry {
  std::uint64_t offset = 0;  ///< its place: offset in the segment file, or (in a catalog) slot number
  std::uint64_t length = 0;  ///< bytes
  base::Hash128 hash;
  std::uint32_t place = 0;  ///< in a catalog: tier number; in a segment: 0
  // Only segments of format 4 have other encodings than `none`. Catalogs and messages know nothing of them.
  Encoding encoding = Encoding::none;
  std::uint64_t encoded_length = 0;  ///< unless the encoding is none
  base::Hash128 encoded_hash = {};   ///< unless the encoding is none
  /// Returns length and hash of the bytes in the file.
  std::uint64_t stored_length() const { return encoding == Encoding::none ? length : encoded_length; }
  const base::Hash128& stored_hash() const { return encoding == Encoding::none ? hash : encoded_hash; }
  friend bool operator==(const ChunkEntry&, const ChunkEntry&) = default;
  PERDURE_FIELDS(offset, length, hash, place)
};

/// The two ways to write a piece.
enum class PieceForm {
  placed,  ///< in formats 1 to 3, catalogs and messages: a chunk has a place
  stored,  ///< in format 4: a chunk has an encoding, and an entry has its name and element type as fields
};

/// One rank's part of a version.
struct Piece {
  std::uint32_t rank = 0;
  std::uint64_t chunk_bytes = 0;  ///< nominal chunk size of this capture
  std::vector<RegionEntry> regions;
  std::vector<ChunkEntry> chunks;
  std::uint64_t capture_bytes() const;
  friend bool operator==(const Piece&, const Piece&) = default;
  PERDURE_FIELDS(rank, chunk_bytes, regions, chunks)
  /// Returns the defect: a number is out of range, a region appears twice, or the chunks are not exactly the regions'
  /// bytes.
  std::string wrong() const;
};

/// Returns the defect of pieces of one version of so many ranks. One is wrong, a rank is beyond the last, or they do
/// not ascend.
std::string wrong_with(const std::vector<Piece>& pieces, std::uint32_t ranks);

/// The place of one rank's piece in a segment of format 3 or 4.
struct Table {
  std::uint32_t rank = 0;
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t length = 0;
  base::Hash128 hash;
};

std::string wrong_with(const std::vector<Table>& tables, std::uint32_t ranks);

/// A segment's description of itself.
struct Manifest {
  VersionId id;
  std::uint32_t ranks = 0;          ///< of the whole version
  std::uint32_t segment_index = 0;  ///< this segment among
  std::uint32_t segment_count = 0;  ///< all segments of the version
  std::string writer;               ///< "perdure 0.1.0"
  std::vector<Piece> pieces;        ///< of the ranks in this segment, ascending by rank
  /// One for each piece, if one manifest cannot describe so many pieces: the file has format 3, and readers may leave
  /// out the pieces. Format 4 always has them.
  std::vector<Table> tables = {};
  /// Format 4: offsets of chunks and tables are multiples of it.
  std::optional<std::uint64_t> alignment = {};
  /// Returns the ranks of this segment, ascending.
  std::vector<std::uint32_t> ranks_here() const;
  /// Manifests are equal even if their parts lie elsewhere in a file.
  friend bool operator==(const Manifest& a, const Manifest& b) {
    return a.id == b.id && a.ranks == b.ranks && a.segment_index == b.segment_index &&
           a.segment_count == b.segment_count && a.writer == b.writer && a.pieces == b.pieces;
  }
};

}  // namespace perdure::segment
