#include "client/sources.hpp"

#include <algorithm>

#include "segment/reader.hpp"

namespace perdure::client {

const StoredSegment* StoredVersionView::segment_of(std::uint32_t rank) const {
  for (const auto& segment : segments)
    if (std::find(segment.ranks.begin(), segment.ranks.end(), rank) != segment.ranks.end()) return &segment;
  return nullptr;
}

const StoredVersionView* StoreView::find(const segment::VersionId& id) const {
  auto it = std::find_if(versions.begin(), versions.end(), [&](const auto& version) { return version.id == id; });
  return it == versions.end() ? nullptr : &*it;
}

std::vector<plan::SegmentPart> StoreView::parts_of(const segment::VersionId& id) const {
  std::vector<plan::SegmentPart> parts;
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

}  // namespace perdure::client
