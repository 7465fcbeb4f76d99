#include "reader/join.hpp"

#include <algorithm>
#include <map>

namespace perdure::reader {
namespace {

using base::Result;
using base::Status;
using segment::ArrayEntry;
using segment::RegionEntry;

std::string kind_text(segment::ArrayKind kind) {
  switch (kind) {
    case segment::ArrayKind::global:
      return "a global array";
    case segment::ArrayKind::list:
      return "a list";
    case segment::ArrayKind::replicated:
      return "replicated";
  }
  return "unknown";
}

// Each takes some 500 bytes of memory; its description in a manifest can be shorter by any factor.
constexpr std::size_t kMostBoxesOfAll = std::size_t{16} << 20;

/// The region of one number, as the ranks so far describe it.
struct KnownRegion {
  StoredRegion region;
  std::uint32_t first_rank = 0;  ///< the rank that described it
  ArrayEntry array;              ///< without boxes
  std::vector<plan::StoredBox> boxes;
};

class Joining {
 public:
  explicit Joining(const std::string& object) : object_(object) {}
  Status add(const segment::Piece& piece);
  Joined take();

 private:
  Status add(std::uint32_t rank, const RegionEntry& entry, std::uint64_t at);
  Status add_array(KnownRegion& known, std::uint32_t rank, const RegionEntry& entry, std::uint64_t at, bool first);
  Status contradiction(const KnownRegion& known, std::uint32_t rank, const std::string& before,
                       const std::string& now) {
    return base::fail(PERDURE_CORRUPT, object_ + ", " + known.region.text(),
                      "its ranks contradict each other: rank " + std::to_string(known.first_rank) + " says it is " +
                          before + ", rank " + std::to_string(rank) + " " + now);
  }

  const std::string& object_;
  std::map<std::int32_t, KnownRegion> known_;
  std::vector<LocalRegion> locals_;
  std::size_t boxes_ = 0;
};

/// Uses the type only if the entry has one: most memory is bytes.
array::ElementType type_of(const RegionEntry& entry) {
  const auto found = entry.attributes.map().find("type");
  if (found != entry.attributes.end())
    if (const auto* text = std::get_if<std::string>(&found->second))
      if (auto type = array::ElementType::parse(*text, ""); type && type->bytes() == entry.element_bytes)
        return std::move(*type);
  return array::ElementType::of_bytes(entry.element_bytes);
}

Status Joining::add(const segment::Piece& piece) {
  std::uint64_t at = 0;  // below 2^63, as the decoder has checked
  for (const RegionEntry& entry : piece.regions) {
    PERDURE_CHECK(add(piece.rank, entry, at));
    at += entry.bytes();
  }
  return {};
}

Status Joining::add(std::uint32_t rank, const RegionEntry& entry, std::uint64_t at) {
  const auto [found, first] = known_.try_emplace(entry.id);
  KnownRegion& known = found->second;
  StoredRegion& region = known.region;
  const bool array = entry.kind == segment::EntryKind::array;
  if (first) {
    region.id = entry.id;
    region.kind = entry.kind;
    region.type = type_of(entry);
    region.least_count = entry.count;
    known.first_rank = rank;
  }
  if (region.label.name.empty()) {
    segment::Label label = segment::label_of(entry);
    if (first || !label.name.empty()) region.label = std::move(label);
  }
  if (array != region.array())
    return contradiction(known, rank, region.array() ? "a part of an array" : segment::kind_name(region.kind),
                         array ? "a part of an array" : segment::kind_name(entry.kind));
  region.bytes += entry.bytes();
  if (array) return add_array(known, rank, entry, at, first);
  ++region.ranks;
  region.least_count = std::min(region.least_count, entry.count);
  region.most_count = std::max(region.most_count, entry.count);
  locals_.push_back({entry.id, rank, entry.kind, entry.element_bytes, entry.count, at});
  return {};
}

Status Joining::add_array(KnownRegion& known, std::uint32_t rank, const RegionEntry& entry, std::uint64_t at,
                          bool first) {
  PERDURE_TRY(ArrayEntry said, segment::array_of(entry, object_ + ", rank " + std::to_string(rank)));
  boxes_ += said.boxes.size();
  if (boxes_ > kMostBoxesOfAll)
    return base::fail(PERDURE_UNSUPPORTED, object_ + ", " + known.region.text(),
                      "its ranks stored more boxes than the " + std::to_string(kMostBoxesOfAll) + " that are read",
                      "restore it with the program that wrote it");
  for (const array::Box& box : said.boxes) {
    known.boxes.push_back({rank, box, at});
    at += box.elements() * entry.element_bytes;
  }
  if (!said.boxes.empty()) ++known.region.ranks;
  if (first) {
    known.region.type = said.type;
    known.array = std::move(said);
    known.array.boxes = {};
    return {};
  }
  const ArrayEntry& before = known.array;
  if (said.type != before.type) return contradiction(known, rank, "of type " + before.type.text(), said.type.text());
  if (said.whole != before.whole) return contradiction(known, rank, before.whole.text(), said.whole.text());
  if (said.kind != before.kind) return contradiction(known, rank, kind_text(before.kind), kind_text(said.kind));
  return {};
}

Joined Joining::take() {
  Joined all;
  for (auto& [id, known] : known_) {
    if (known.region.array())
      all.arrays.push_back({id, known.region.label, known.array.type, known.array.kind, known.array.whole,
                            plan::StoredArray(known.array.type.bytes(), std::move(known.boxes))});
    all.regions.push_back(std::move(known.region));
  }
  std::stable_sort(locals_.begin(), locals_.end(),
                   [](const LocalRegion& a, const LocalRegion& b) { return a.id < b.id; });
  all.locals = std::move(locals_);
  return all;
}

}  // namespace

Result<Joined> join(const std::vector<RankPart>& parts, const std::string& object) {
  Joining joining(object);
  for (const RankPart& part : parts) PERDURE_CHECK(joining.add(part.piece));
  return joining.take();
}

}  // namespace perdure::reader
