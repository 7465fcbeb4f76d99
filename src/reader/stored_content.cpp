#include "reader/stored_content.hpp"

#include <algorithm>
#include <charconv>

#include "reader/inventory.hpp"
#include "reader/slabs.hpp"

namespace perdure::reader {
namespace {

using base::Result;
using base::Status;

constexpr int kMostTries = 20;  // a job that writes leaves a newer version each time

bool has_directory(store::Store& store, const std::string& name) {
  const auto names = store.names();
  return names && std::find(names->begin(), names->end(), name) != names->end();
}

/// Believes damage that was seen twice, the second time past the page cache.
Result<segment::Manifest> read_manifest(store::Store& store, const store::SegmentRef& segment,
                                        std::unique_ptr<segment::ByteSource>& source) {
  PERDURE_TRY(source, store.open(segment));
  auto manifest = segment::read_manifest(*source);
  if (manifest || manifest.error().code != PERDURE_CORRUPT) return manifest;
  PERDURE_TRY(source, store.open_anew(segment));
  return segment::read_manifest(*source);
}

/// Lists the existing names, for a caller that asked for another.
std::string listed(const std::vector<StoredRegion>& regions) {
  constexpr std::size_t kMost = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, regions.size()); ++i) {
    const auto& [id, label] = std::tie(regions[i].id, regions[i].label);
    text += (i == 0 ? "" : ", ") + std::to_string(id) + (label.name.empty() ? "" : " '" + label.name + "'");
  }
  if (regions.size() > kMost) text += " and " + std::to_string(regions.size() - kMost) + " more";
  return text;
}

Status said_of(Status outcome, const std::string& region) {
  if (!outcome && outcome.error().code == PERDURE_CORRUPT) outcome.error().cause += "; it has a part of " + region;
  return outcome;
}

}  // namespace

Result<StoredContent> StoredContent::open(store::Store& store, const store::VersionListing& listing,
                                          std::uint64_t kept_bytes) {
  if (!listing.all_present()) return base::fail(missing_segments(listing));
  StoredContent content(store, listing, kept_bytes);
  PERDURE_CHECK(content.read_manifests());
  return content;
}

Result<OpenedVersion> open_version(store::Store& store, const std::string& name, std::optional<std::uint64_t> version,
                                   std::optional<plan::Branch> branch) {
  for (int tries = 1;; ++tries) {
    const auto listing = find_version(store, name, version, branch);
    // Between two directory reads the newest version can replace the only one listed.
    if (!listing && !version && tries < kMostTries && has_directory(store, name)) continue;
    if (!listing) return base::fail(listing.error());
    auto content = StoredContent::open(store, *listing);
    if (content) return OpenedVersion{*listing, std::move(*content)};
    const auto code = content.error().code;
    if (code != PERDURE_NOT_FOUND && code != PERDURE_INCOMPLETE) return base::fail(content.error());
    if (!version && tries < kMostTries) continue;
    base::Error gone = content.error();
    gone.remedy =
        "retention removed it while it was opened: without a number the newest version is taken; a larger "
        "retention.keep_last leaves more time";
    return base::fail(gone);
  }
}

Result<StoredContent> StoredContent::open(store::Store& store, const segment::VersionId& id) {
  PERDURE_TRY(const auto listings, store.list(id.name));
  for (const auto& listing : listings)
    if (listing.id == id) return open(store, listing);
  return base::fail(PERDURE_NOT_FOUND, id.text(), "this attempt at it is not in " + store.properties().location,
                    "perdure ls lists what is there");
}

Status StoredContent::read_manifests() {
  std::vector<segment::Manifest> manifests;
  for (const auto& segment : listing_.segments) {
    std::unique_ptr<segment::ByteSource> source;
    PERDURE_TRY(auto manifest, read_manifest(*store_, segment, source));
    manifests.push_back(std::move(manifest));
    chunks_.keep_open(segment, std::move(source));
  }
  std::vector<const segment::Manifest*> all;
  for (const auto& manifest : manifests) all.push_back(&manifest);
  PERDURE_CHECK(store::check_version(listing_, all));
  for (const auto* manifest : all) {
    PERDURE_TRY(const auto borrowed, segment::borrowed_of(*manifest, listing_.id.text()));
    borrows_ = borrows_ || !borrowed.empty();
  }
  writer_ = manifests.front().writer;
  parts_.resize(manifests.front().ranks);  // each of them is in one manifest
  for (std::size_t i = 0; i < manifests.size(); ++i)
    for (auto& piece : manifests[i].pieces) {
      const std::uint32_t rank = piece.rank;
      parts_[rank] = {std::move(piece), i};
    }
  PERDURE_TRY(joined_, join(parts_, listing_.id.text()));
  for (RankPart& part : parts_) part.piece.regions = {};
  return {};
}

Result<const StoredRegion*> StoredContent::find(const std::string& region) const {
  const auto& all = joined_.regions;
  std::int32_t id = -1;
  const auto [end, error] = std::from_chars(region.data(), region.data() + region.size(), id);
  const bool number = error == std::errc() && end == region.data() + region.size();
  std::vector<StoredRegion> found;
  const StoredRegion* last = nullptr;
  for (const StoredRegion& one : all)
    if (number ? one.id == id : !region.empty() && one.label.name == region) {
      found.push_back(one);
      last = &one;
    }
  const std::string object = listing_.id.text() + ", region " + (number ? region : "'" + region.substr(0, 64) + "'");
  if (found.size() > 1)
    return base::fail(PERDURE_INVALID_ARGUMENT, object, "several regions have this name: " + listed(found),
                      "name it by its number");
  if (found.empty())
    return base::fail(PERDURE_NOT_FOUND, object, "it has no such region",
                      all.empty() ? "it has no regions at all" : "its regions are " + listed(all));
  return last;
}

const StoredArray* StoredContent::array(std::int32_t id) const {
  const auto& all = joined_.arrays;
  const auto found =
      std::lower_bound(all.begin(), all.end(), id, [](const auto& a, auto wanted) { return a.id < wanted; });
  return found == all.end() || found->id != id ? nullptr : &*found;
}

const LocalRegion* StoredContent::local(std::uint32_t rank, std::int32_t id) const {
  const auto& all = joined_.locals;
  const auto found =
      std::lower_bound(all.begin(), all.end(), std::pair(id, rank),
                       [](const auto& a, const auto& wanted) { return std::pair(a.id, a.rank) < wanted; });
  return found == all.end() || found->id != id || found->rank != rank ? nullptr : &*found;
}

Status StoredContent::read_capture(std::uint32_t rank, std::uint64_t begin, base::ByteSpan target,
                                   const std::string& what) {
  const RankPart& part = parts_[rank];
  return said_of(chunks_.read_capture(listing_.segments[part.segment], part.piece, begin, target), what);
}

Status StoredContent::check_cover(const StoredArray& array, const array::Box& box) const {
  const auto [hole, overlaps, all] = plan::cover(array.boxes, box, 1);
  const std::string object = listing_.id.text() + ", " + array.text();
  if (!overlaps.empty())
    return base::fail(PERDURE_CORRUPT, object,
                      "ranks " + std::to_string(overlaps[0].first) + " and " + std::to_string(overlaps[0].second) +
                          " both stored " + overlaps[0].box.text());
  if (hole) return base::fail(PERDURE_CORRUPT, object, "no rank stored " + hole->text());
  return {};
}

Status StoredContent::read(const StoredArray& array, const array::Box& box, base::ByteSpan target) {
  const std::string object = listing_.id.text() + ", " + array.text();
  const std::uint64_t element_bytes = array.type.bytes();
  if (box.dimensions != array.whole.dimensions || !array.whole.contains(box))
    return base::fail(PERDURE_INVALID_ARGUMENT, object, box.text() + " is not inside of " + array.whole.text());
  if (target.size() != box.elements() * element_bytes)
    return base::fail(PERDURE_INVALID_ARGUMENT, object,
                      box.text() + " has " + std::to_string(box.elements() * element_bytes) + " bytes, the target " +
                          std::to_string(target.size()));
  if (box.empty()) return {};
  PERDURE_CHECK(check_cover(array, box));
  struct Part {
    std::uint32_t rank = 0;
    std::uint64_t first_byte = 0, last_byte = 0;  // of the capture
    const plan::StoredBox* stored = nullptr;
  };
  std::vector<Part> parts;
  array.boxes.meeting(box, [&](const plan::StoredBox& stored, const array::Box& shared) {
    const auto lies = array::packed(stored.box, element_bytes, static_cast<std::int64_t>(stored.at));
    array::Index last{};
    for (unsigned d = 0; d < shared.dimensions; ++d) last[d] = shared.end[d] - 1;
    parts.push_back({stored.rank, static_cast<std::uint64_t>(lies.at(shared.begin)),
                     static_cast<std::uint64_t>(lies.at(last)) + element_bytes - 1, &stored});
  });
  // Sorts by the order of captures, so that each chunk is read once.
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return std::tie(a.rank, a.stored->at) < std::tie(b.rank, b.stored->at);
  });
  const auto memory = array::packed(box, element_bytes, 0);
  for (const Part& part : parts) {
    const segment::Piece& piece = parts_[part.rank].piece;
    // copies() uses only the capture's length: chunks before and behind do not matter.
    const plan::StoredCapture capture{part.stored->at + part.stored->box.elements() * element_bytes, piece.chunk_bytes};
    for (auto chunk = part.first_byte / piece.chunk_bytes; chunk <= part.last_byte / piece.chunk_bytes; ++chunk) {
      Status outcome;
      plan::copies(element_bytes, *part.stored, capture, chunk, memory, [&](auto from, auto to, auto bytes) {
        if (outcome)
          outcome = chunks_.read(place(part.rank, chunk), from, target.subspan(static_cast<std::size_t>(to), bytes));
      });
      PERDURE_CHECK(said_of(std::move(outcome), array.text()));
    }
  }
  return {};
}

Status StoredContent::read_local(const LocalRegion& region, std::uint64_t first, base::ByteSpan target) {
  const std::string object =
      listing_.id.text() + ", rank " + std::to_string(region.rank) + ", region " + std::to_string(region.id);
  const std::uint64_t element = std::max<std::uint64_t>(1, region.element_bytes);
  if (region.bytes() == 0 && target.empty()) return {};
  if (region.bytes() == 0 || first > region.count || target.size() % element != 0 ||
      target.size() / element > region.count - first)
    return base::fail(PERDURE_INVALID_ARGUMENT, object,
                      std::to_string(target.size()) + " bytes from element " + std::to_string(first) +
                          " on are not of its " + std::to_string(region.count) + " elements of " +
                          std::to_string(region.element_bytes) + " bytes");
  return read_capture(region.rank, region.at + first * region.element_bytes, target,
                      "region " + std::to_string(region.id));
}

Status StoredContent::for_each_slab(const StoredArray& array, std::uint64_t most_bytes, const TakeSlab& take) {
  PERDURE_CHECK(check_cover(array, array.whole));
  const std::uint64_t element_bytes = array.type.bytes();
  std::vector<std::byte> buffer;
  for (const plan::StoredBox& stored : array.boxes.stored()) {
    std::uint64_t at = stored.at;  // slabs follow each other in the capture, too
    const Status outcome = each_slab(stored.box, most_bytes / element_bytes, [&](const array::Box& slab) -> Status {
      buffer.resize(slab.elements() * element_bytes);
      PERDURE_CHECK(read_capture(stored.rank, at, buffer, array.text()));
      at += buffer.size();
      return take(slab, buffer);
    });
    if (!outcome) return outcome;
  }
  return {};
}

Status StoredContent::for_each_slab(const LocalRegion& region, std::uint64_t most_bytes, const TakeElements& take) {
  if (region.bytes() == 0) return {};
  const std::uint64_t at_once = std::max<std::uint64_t>(1, most_bytes / region.element_bytes);
  std::vector<std::byte> buffer;
  for (std::uint64_t first = 0; first < region.count; first += at_once) {
    buffer.resize(std::min(at_once, region.count - first) * region.element_bytes);
    PERDURE_CHECK(read_local(region, first, buffer));
    PERDURE_CHECK(take(first, buffer));
  }
  return {};
}

Result<std::vector<segment::Defect>> StoredContent::verify(const std::function<void(std::uint64_t)>& progress) {
  std::vector<segment::Defect> all;
  for (const auto& segment : listing_.segments) {
    PERDURE_TRY(const auto source, store_->open(segment));
    auto defects = segment::verify(*source, progress);
    std::move(defects.begin(), defects.end(), std::back_inserter(all));
  }
  PERDURE_TRY(const auto borrowed, store::borrowed(*store_, listing_.id));
  for (const auto& one : borrowed) {
    PERDURE_TRY(const auto source, store_->open(one.segment));
    auto defects = segment::verify(*source, progress);
    std::move(defects.begin(), defects.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace perdure::reader
