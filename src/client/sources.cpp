#include "client/sources.hpp"

#include <algorithm>

#include "segment/reader.hpp"
#include "store/renamed.hpp"

namespace perdure::client {

const StoredSegment* StoredVersionView::segment_of(std::uint32_t rank) const {
  for (const auto& segment : segments)
    if (segment.ranks.contains(rank)) return &segment;
  return nullptr;
}

const StoredVersionView* StoreView::find(const segment::VersionId& id) const {
  auto it = std::find_if(versions.begin(), versions.end(), [&](const auto& version) { return version.id == id; });
  return it == versions.end() ? nullptr : &*it;
}

std::vector<plan::SegmentPart> StoreView::parts_of(const segment::VersionId& id) const {
  std::vector<plan::SegmentPart> parts;
  if (const auto* view = find(id); view != nullptr)
    for (const auto& segment : view->segments)
      parts.push_back({segment.ref.index, segment.ref.count, segment.ranks.list()});
  return parts;
}

base::Result<ReadSegment> read_segment(const segment::ByteSource& source, const segment::VersionId& id,
                                       const store::SegmentRef& ref) {
  PERDURE_TRY(const auto manifest, segment::read_contents(source));
  if (store::differs_in_name(manifest.id, id)) return base::fail(store::renamed_directory(id.name, manifest.id.name));
  if (manifest.id != id || manifest.segment_index != ref.index || manifest.segment_count != ref.count)
    return base::fail(PERDURE_CORRUPT, source.name(), "its manifest belongs to another segment than its name says");
  auto ranks = manifest.ranks_here();  // in the file's order
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ReadSegment{{ref, base::Runs<std::uint32_t>(ranks)}, manifest.ranks};
}

base::Result<std::vector<store::VersionListing>> list_versions(store::Store& store, const std::string& name,
                                                               KnownVersions& known) {
  auto listings = store.list(name);
  if (listings) known.saw_store();
  if (listings || listings.error().code != PERDURE_NOT_FOUND) return listings;
  auto names = store.names();
  if (names) known.saw_store();
  const bool never_there = !names && names.error().code == PERDURE_NOT_FOUND && !known.store_seen();
  if (names || never_there) return std::vector<store::VersionListing>();
  if (names.error().code == PERDURE_NOT_FOUND) names.error().code = PERDURE_UNAVAILABLE;
  return base::fail(std::move(names).error());
}

void view_stored(store::Store& store, const store::VersionListing& listing, StoreView& view) {
  StoredVersionView version{listing.id, 0, {}};
  for (const auto& ref : listing.segments) {
    const auto read_from = [&](const auto& source) -> base::Result<ReadSegment> {
      if (!source) return base::fail(source.error());
      return read_segment(**source, listing.id, ref);
    };
    auto read = read_from(store.open(ref));
    if (!read && read.error().code == PERDURE_CORRUPT) read = read_from(store.open_anew(ref));
    if (!read && read.error().code == PERDURE_NOT_FOUND) {  // removed meanwhile
      view.leaving.push_back(listing.id);
      continue;
    }
    if (!read && read.error().code == PERDURE_CORRUPT) {
      view.suspects.push_back({listing.id, ref, std::move(read.error())});
    } else if (!read) {
      view.unreadable = std::move(read.error());
    } else if (version.ranks == 0 ||
               version.ranks == read->ranks) {  // others contradict the first, and count as missing
      version.ranks = read->ranks;
      version.segments.push_back(std::move(read->segment));
    }
  }
  const bool damaged = std::any_of(view.suspects.begin(), view.suspects.end(),
                                   [&](const Suspect& suspect) { return suspect.id == listing.id; });
  if (!version.segments.empty() || damaged) view.versions.push_back(std::move(version));
}

}  // namespace perdure::client
