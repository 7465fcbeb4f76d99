#include "session/sources.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "segment/manifest_codec.hpp"
#include "segment/reader.hpp"

namespace perdure::session {
namespace {

using base::Json;

const std::string kObject = "store view";

base::Result<StoredSegment> segment_from_json(const Json& json, const segment::Attempt& attempt) {
  StoredSegment segment;
  segment.ref.attempt = attempt;
  PERDURE_TRY(segment.ref.index, base::get_u32(json, "index", kObject));
  PERDURE_TRY(segment.ref.count, base::get_u32(json, "count", kObject));
  PERDURE_TRY(segment.ref.path, base::get_text(json, "path", kObject));
  PERDURE_TRY(const Json* ranks, base::get_array(json, "ranks", kObject));
  for (const Json& rank : *ranks) {
    if (!rank.is_number_unsigned()) return base::fail(PERDURE_CORRUPT, kObject, "a rank is not a number");
    segment.ranks.push_back(rank.get<std::uint32_t>());
  }
  return segment;
}

}  // namespace

const StoredSegment* StoredVersionView::segment_of(std::uint32_t rank) const {
  for (const auto& segment : segments)
    if (std::find(segment.ranks.begin(), segment.ranks.end(), rank) != segment.ranks.end()) return &segment;
  return nullptr;
}

const StoredVersionView* StoreView::find(const segment::VersionId& id) const {
  auto it = std::find_if(versions.begin(), versions.end(), [&](const auto& version) { return version.id == id; });
  return it == versions.end() ? nullptr : &*it;
}

std::vector<plan::StoredPart> StoreView::parts_of(const segment::VersionId& id) const {
  std::vector<plan::StoredPart> parts;
  if (const auto* view = find(id); view != nullptr)
    for (const auto& segment : view->segments) parts.push_back({segment.ref.index, segment.ref.count, segment.ranks});
  return parts;
}

StoredVersionView view_stored(store::Store& store, const store::VersionListing& listing,
                              std::optional<base::Error>& unreadable) {
  StoredVersionView view{listing.id, 0, {}};
  for (const auto& ref : listing.segments) {
    auto source = store.open(ref);
    if (!source) {
      if (source.error().code != PERDURE_NOT_FOUND) unreadable = source.error();
      continue;
    }
    auto manifest = segment::read_manifest(**source);
    if (!manifest) {
      if (manifest.error().code == PERDURE_CORRUPT)
        (void)store.quarantine(ref, listing.id, manifest.error());
      else
        unreadable = manifest.error();
      continue;
    }
    const bool agrees = manifest->id == listing.id && manifest->segment_index == ref.index &&
                        manifest->segment_count == ref.count && (view.ranks == 0 || view.ranks == manifest->ranks);
    if (!agrees) {
      (void)store.quarantine(
          ref, listing.id,
          {PERDURE_CORRUPT, ref.path, "its manifest belongs to another segment than its name says", "", false});
      continue;
    }
    view.ranks = manifest->ranks;
    StoredSegment segment{ref, {}};
    for (const auto& piece : manifest->pieces) segment.ranks.push_back(piece.rank);
    view.segments.push_back(std::move(segment));
  }
  return view;
}

Json to_json(const StoreView& view) {
  Json list = Json::array();
  for (const auto& version : view.versions) {
    Json segments = Json::array();
    for (const auto& s : version.segments)
      segments.push_back({{"index", s.ref.index}, {"count", s.ref.count}, {"path", s.ref.path}, {"ranks", s.ranks}});
    list.push_back({{"id", segment::to_json(version.id)}, {"ranks", version.ranks}, {"segments", segments}});
  }
  return {{"versions", list}};
}

base::Result<StoreView> store_view_from_json(const Json& json) {
  StoreView view;
  PERDURE_TRY(const Json* list, base::get_array(json, "versions", kObject));
  for (const Json& item : *list) {
    StoredVersionView version;
    if (!item.is_object() || !item.contains("id")) return base::fail(PERDURE_CORRUPT, kObject, "a version has no id");
    PERDURE_TRY(version.id, segment::version_id_from_json(item["id"], kObject));
    PERDURE_TRY(version.ranks, base::get_u32(item, "ranks", kObject));
    PERDURE_TRY(const Json* segments, base::get_array(item, "segments", kObject));
    for (const Json& entry : *segments) {
      PERDURE_TRY(auto segment, segment_from_json(entry, version.id.attempt));
      version.segments.push_back(std::move(segment));
    }
    view.versions.push_back(std::move(version));
  }
  return view;
}

}  // namespace perdure::session
