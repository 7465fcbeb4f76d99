#pragma once
// What a segment or a catalog knows about one rank's part of a checkpoint. Data only; the codec is manifest_codec.
#include <compare>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/fields.hpp"
#include "base/hash.hpp"

namespace perdure::segment {

/// Which attempt at writing a version this is. Two attempts at the same version never mix: a version is complete only
/// when every rank's piece carries the same attempt. Ordered by time of creation.
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
  std::string wrong() const;  ///< its name is none, or its version is not below 2^63
};

/// What an entry was captured from. The numbers are in stored segments: none ever changes its meaning.
enum class EntryKind : std::uint32_t {
  memory = 0,  ///< memory that the program registered
  opaque = 1,  ///< bytes whose meaning only their source knows
  array = 2,   ///< a part of an array that all ranks have together (array_entry.hpp)
};
const char* kind_name(EntryKind kind);
constexpr EntryKind greatest(EntryKind) { return EntryKind::array; }

/// What a source says about an entry; who does not know an attribute keeps it and makes nothing of it.
using AttributeValue = std::variant<bool, std::int64_t, std::string, std::vector<std::byte>, std::vector<std::int64_t>>;
/// Most entries have none, and there may be a hundred million entries on a node: without any they cost a pointer.
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

/// An entry of a capture: a region as it was when captured, or whatever else the source consists of. The capture of a
/// rank is the concatenation of its entries in this order.
struct RegionEntry {
  std::int32_t id = 0;
  std::uint64_t element_bytes = 0;
  std::uint64_t count = 0;
  EntryKind kind = EntryKind::memory;
  Attributes attributes = {};
  std::uint64_t bytes() const { return element_bytes * count; }
  /// Memory about which nothing else is said: all that format 1 can say.
  bool plain() const { return kind == EntryKind::memory && attributes.empty(); }
  friend bool operator==(const RegionEntry&, const RegionEntry&) = default;
  PERDURE_FIELDS(id, element_bytes, count, kind, attributes)
};

/// A chunk: bytes [index * chunk_bytes, index * chunk_bytes + length) of its rank's capture.
struct ChunkEntry {
  std::uint64_t offset = 0;  ///< where it is: offset in the segment file, or (in a catalog) slot number
  std::uint64_t length = 0;  ///< bytes
  base::Hash128 hash;
  std::uint32_t place = 0;  ///< in a catalog: tier number; in a segment: 0
  friend bool operator==(const ChunkEntry&, const ChunkEntry&) = default;
  PERDURE_FIELDS(offset, length, hash, place)
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
  /// A number is out of range, a region appears twice, or the chunks are not exactly the regions' bytes.
  std::string wrong() const;
};

/// What is wrong with pieces of one version of so many ranks: one of them, a rank beyond the last, or not ascending.
std::string wrong_with(const std::vector<Piece>& pieces, std::uint32_t ranks);

/// Where a segment of format 3 describes one rank's piece.
struct Table {
  std::uint32_t rank = 0;
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t length = 0;
  base::Hash128 hash;
};

std::string wrong_with(const std::vector<Table>& tables, std::uint32_t ranks);

/// What a segment says about itself.
struct Manifest {
  VersionId id;
  std::uint32_t ranks = 0;          ///< of the whole version
  std::uint32_t segment_index = 0;  ///< this segment among
  std::uint32_t segment_count = 0;  ///< all segments of the version
  std::string writer;               ///< "perdure 0.1.0"
  std::vector<Piece> pieces;        ///< of the ranks in this segment, ascending by rank
  /// One for each piece, where the pieces are more than one manifest can describe: the file is of format 3, and what is
  /// read of it may lack the pieces.
  std::vector<Table> tables = {};
  /// Of this segment, ascending.
  std::vector<std::uint32_t> ranks_here() const;
  /// Where things lie in a file does not tell manifests apart.
  friend bool operator==(const Manifest& a, const Manifest& b) {
    return a.id == b.id && a.ranks == b.ranks && a.segment_index == b.segment_index &&
           a.segment_count == b.segment_count && a.writer == b.writer && a.pieces == b.pieces;
  }
};

}  // namespace perdure::segment
