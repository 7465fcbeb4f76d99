#include "inspect/check_protection_region.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>

namespace perdure::inspect {
namespace {

/// The capture of one rank as a row of bytes, of which one chunk at a time is in memory.
class Capture {
 public:
  explicit Capture(const StoredPiece& stored) : stored_(stored) {}

  struct Place {
    std::size_t chunk = 0;
    std::uint64_t offset = 0;  ///< within the chunk
    std::uint64_t left = 0;    ///< bytes from there to the chunk's end
  };
  base::Result<Place> place(std::uint64_t at) const {
    const auto& piece = *stored_.piece;
    const std::uint64_t chunk = piece.chunk_bytes == 0 ? piece.chunks.size() : at / piece.chunk_bytes;
    const std::uint64_t offset = piece.chunk_bytes == 0 ? 0 : at % piece.chunk_bytes;
    if (chunk >= piece.chunks.size() || offset >= piece.chunks[chunk].length)
      return base::fail(PERDURE_CORRUPT, stored_.source->name(),
                        "the chunks of rank " + std::to_string(piece.rank) + " do not cover its regions");
    return Place{chunk, offset, piece.chunks[chunk].length - offset};
  }
  const segment::ChunkEntry& entry(std::size_t chunk) const { return stored_.piece->chunks[chunk]; }
  base::Result<base::ConstByteSpan> bytes(const Place& place, std::uint64_t length) {
    if (held_ != place.chunk) {
      held_.reset();
      buffer_.resize(entry(place.chunk).length);
      PERDURE_CHECK(segment::read_chunk(*stored_.source, *stored_.piece, place.chunk, buffer_));
      held_ = place.chunk;
    }
    return base::ConstByteSpan(buffer_).subspan(place.offset, length);
  }
  /// Gives `length` bytes from `at` on, across the chunks' borders.
  base::Result<std::vector<std::byte>> copy(std::uint64_t at, std::uint64_t length) {
    std::vector<std::byte> all;
    while (all.size() < length) {
      PERDURE_TRY(const Place where, place(at + all.size()));
      PERDURE_TRY(const auto part, bytes(where, std::min(where.left, length - all.size())));
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

 private:
  StoredPiece stored_;
  std::vector<std::byte> buffer_;
  std::optional<std::size_t> held_;
};

struct Located {
  segment::RegionEntry region;
  std::uint64_t begin = 0;  ///< offset in the rank's capture
};

std::string size_text(const std::optional<Located>& found) {
  if (!found) return "not there";
  return fmt::format("{} elements of {} bytes", found->region.count, found->region.element_bytes);
}

/// Writes bytes as a number of unknown type: its bits and, if it may be one, as floating point.
std::string value_text(const std::vector<std::byte>& bytes) {
  std::string text = "0x";
  for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte)  // the host's order is little endian
    text += fmt::format("{:02x}", std::to_integer<unsigned>(*byte));
  if (bytes.size() == sizeof(double)) {
    double value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    text += fmt::format(" ({:.17g} as a double)", value);
  } else if (bytes.size() == sizeof(float)) {
    float value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    text += fmt::format(" ({:.9g} as a float)", value);
  }
  return text;
}

/// Counts the elements that differ in [begin, begin + size) of a region.
void count(base::ConstByteSpan here, base::ConstByteSpan there, std::uint64_t begin, RegionDefect& defect,
           std::optional<std::uint64_t>& last) {
  for (auto [a, b] = std::mismatch(here.begin(), here.end(), there.begin()); a != here.end();
       std::tie(a, b) = std::mismatch(a + 1, here.end(), b + 1)) {
    const std::uint64_t element = (begin + static_cast<std::uint64_t>(a - here.begin())) / defect.element_bytes;
    if (last == element) continue;
    last = element;
    if (!defect.first_element) defect.first_element = element;
    ++defect.elements;
  }
}

base::Status compare_bytes(Capture& here, Capture& there, std::uint64_t begin_here, std::uint64_t begin_there,
                           std::uint64_t length, RegionDefect& defect) {
  std::optional<std::uint64_t> last;
  for (std::uint64_t done = 0; done < length;) {
    PERDURE_TRY(const auto a, here.place(begin_here + done));
    PERDURE_TRY(const auto b, there.place(begin_there + done));
    const std::uint64_t step = std::min({a.left, b.left, length - done});
    const auto &entry_a = here.entry(a.chunk), &entry_b = there.entry(b.chunk);
    const bool same = a.offset == b.offset && entry_a.length == entry_b.length && entry_a.hash == entry_b.hash;
    if (!same) {
      PERDURE_TRY(const auto bytes_a, here.bytes(a, step));
      PERDURE_TRY(const auto bytes_b, there.bytes(b, step));
      count(bytes_a, bytes_b, done, defect, last);
    }
    done += step;
  }
  return {};
}

}  // namespace

struct RegionComparison::Run {
  explicit Run(const StoredPiece& stored) : capture(stored) {
    if (stored.piece == nullptr) return;
    std::uint64_t begin = 0;
    for (const auto& region : stored.piece->regions) {
      regions.emplace(region.id, Located{region, begin});
      begin += region.bytes();
    }
  }
  std::optional<Located> find(std::optional<std::int32_t> id) const {
    const auto found = id ? regions.find(*id) : regions.end();
    return found == regions.end() ? std::nullopt : std::optional(found->second);
  }
  Capture capture;
  std::unordered_map<std::int32_t, Located> regions;
};

RegionComparison::RegionComparison(const StoredPiece& here, const StoredPiece& there)
    : here_(std::make_unique<Run>(here)), there_(std::make_unique<Run>(there)) {}

RegionComparison::~RegionComparison() = default;

base::Result<std::optional<RegionDefect>> RegionComparison::compare(std::optional<std::int32_t> here,
                                                                    std::optional<std::int32_t> there) {
  constexpr std::uint64_t kShown = 16;  // bytes of an element
  const auto a = here_->find(here);
  auto b = there_->find(there);
  if (!a && !b) return std::optional<RegionDefect>();
  if (a && b) b->region.id = a->region.id;  // the id says nothing
  RegionDefect defect;
  defect.element_bytes = a ? a->region.element_bytes : b->region.element_bytes;
  defect.count = a ? a->region.count : b->region.count;
  if (!a || !b || a->region != b->region) {
    defect.what = size_text(a) + ", then " + size_text(b);
    return std::optional(defect);
  }
  Capture &mine = here_->capture, &other = there_->capture;
  PERDURE_CHECK(compare_bytes(mine, other, a->begin, b->begin, a->region.bytes(), defect));
  if (!defect.first_element) return std::optional<RegionDefect>();
  const std::uint64_t at = *defect.first_element * defect.element_bytes;
  if (defect.element_bytes <= kShown) {
    PERDURE_TRY(const auto value_a, mine.copy(a->begin + at, defect.element_bytes));
    PERDURE_TRY(const auto value_b, other.copy(b->begin + at, defect.element_bytes));
    defect.what = value_text(value_a) + ", then " + value_text(value_b);
  }
  return std::optional(defect);
}

}  // namespace perdure::inspect
