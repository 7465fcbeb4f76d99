// Judges whether a version is complete from its segments alone, without MPI and without the application.
#include <algorithm>
#include <set>

#include "store/renamed.hpp"
#include "store/store.hpp"

namespace perdure::store {
namespace {

using base::Status;
using segment::Manifest;

Status check_present(const VersionListing& listing) {
  const std::string object = listing.id.text();
  for (std::uint32_t i = 0; i < listing.segments.size(); ++i)
    if (listing.segments[i].index != i)
      return base::fail(
          PERDURE_NOT_FOUND, object,
          "incomplete: segment " + std::to_string(i) + " of " + std::to_string(listing.segment_count) + " is missing");
  if (listing.all_present()) return {};
  return base::fail(PERDURE_NOT_FOUND, object,
                    "incomplete: " + std::to_string(listing.segments.size()) + " of " +
                        std::to_string(listing.segment_count) + " segments are there");
}

/// The manifest must agree with the file's name and place, and with the other segments.
Status check_agreement(const Manifest& manifest, const Manifest& first, const VersionListing& listing,
                       const SegmentRef& segment) {
  auto wrong = [&](const char* what) {
    return base::fail(PERDURE_CORRUPT, segment.path,
                      std::string("the manifest disagrees with ") + what + ": it says " + manifest.id.text() +
                          ", segment " + std::to_string(manifest.segment_index) + " of " +
                          std::to_string(manifest.segment_count) + ", " + std::to_string(manifest.ranks) + " ranks");
  };
  if (differs_in_name(manifest.id, listing.id)) return base::fail(renamed_directory(listing.id.name, manifest.id.name));
  if (manifest.id != listing.id) return wrong("the place and name of its file");
  if (manifest.segment_index != segment.index || manifest.segment_count != listing.segment_count)
    return wrong("the name of its file");
  if (manifest.ranks != first.ranks) return wrong("segment 0");
  return {};
}

Status check_ranks(const std::vector<const Manifest*>& manifests, const std::string& object) {
  std::vector<std::uint32_t> ranks;
  for (const Manifest* manifest : manifests)
    for (const std::uint32_t rank : manifest->ranks_here()) ranks.push_back(rank);
  std::sort(ranks.begin(), ranks.end());
  for (std::uint32_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] < i)
      return base::fail(PERDURE_CORRUPT, object, "rank " + std::to_string(ranks[i]) + " appears in two segments");
    if (ranks[i] > i) return base::fail(PERDURE_CORRUPT, object, "rank " + std::to_string(i) + " is in no segment");
  }
  if (ranks.size() != manifests.front()->ranks)
    return base::fail(PERDURE_CORRUPT, object, "rank " + std::to_string(ranks.size()) + " is in no segment");
  return {};
}

}  // namespace

base::Status check_version(const VersionListing& listing, const std::vector<const Manifest*>& manifests) {
  PERDURE_CHECK(check_present(listing));
  for (std::size_t i = 0; i < manifests.size(); ++i)
    PERDURE_CHECK(check_agreement(*manifests[i], *manifests.front(), listing, listing.segments[i]));
  return check_ranks(manifests, listing.id.text());
}

namespace {

/// Checks that it is what its name says, and intact at both of its ends; its chunks are not read.
Status check_lent(Store& store, const segment::VersionId& lender, const SegmentRef& segment) {
  PERDURE_TRY(const auto source, store.open(segment));
  PERDURE_TRY(const Manifest manifest, segment::read_contents(*source));
  if (manifest.id == lender && manifest.segment_index == segment.index) return {};
  return base::fail(PERDURE_CORRUPT, source->name(), "it is borrowed as another segment than its manifest says");
}

}  // namespace

base::Status borrow(Store& store, const segment::VersionId& borrower, const BorrowedSegment& lent) {
  if (Lending* lending = store.lending(); lending != nullptr) return lending->borrow(borrower, lent);
  return base::fail(PERDURE_UNSUPPORTED, lent.segment.path, "this store does not keep it for " + borrower.text());
}

base::Result<std::vector<BorrowedSegment>> borrowed(Store& store, const segment::VersionId& id) {
  Lending* const lending = store.lending();
  return lending != nullptr ? lending->borrowed(id) : std::vector<BorrowedSegment>();
}

base::Result<std::optional<Owner>> runner(Store& store, const std::string& name) {
  if (Records* records = store.records(); records != nullptr) return records->runner(name);
  return std::nullopt;
}

base::Status set_runner(Store& store, const std::string& name, const std::optional<Owner>& expected,
                        const Owner& next) {
  if (Records* records = store.records(); records != nullptr) return records->set_runner(name, expected, next);
  return base::fail(PERDURE_UNSUPPORTED, "checkpoint " + name, "this store does not keep who runs it");
}

base::Result<std::vector<plan::Fork>> forks(Store& store, const std::string& name) {
  auto recorded = recorded_forks(store, name);
  if (!recorded && recorded.error().code == PERDURE_CORRUPT) return std::vector<plan::Fork>();
  return recorded;
}

base::Result<std::vector<plan::Fork>> recorded_forks(Store& store, const std::string& name) {
  Records* records = store.records();
  if (records == nullptr) return std::vector<plan::Fork>();
  auto recorded = records->forks(name);
  if (!recorded && recorded.error().code == PERDURE_NOT_FOUND) return std::vector<plan::Fork>();
  return recorded;
}

base::Status set_forks(Store& store, const std::string& name, const std::vector<plan::Fork>& forks) {
  if (Records* records = store.records(); records != nullptr) return records->set_forks(name, forks);
  return base::fail(PERDURE_UNSUPPORTED, "checkpoint " + name, "this store does not keep where branches begin");
}

base::Status check_borrowed(Store& store, const segment::VersionId& id, const std::vector<const Manifest*>& manifests) {
  std::set<std::string> wanted;
  for (const Manifest* manifest : manifests) {
    PERDURE_TRY(const auto list, segment::borrowed_of(*manifest, id.text()));
    for (const auto& one : list) wanted.insert(one.text());
  }
  if (wanted.empty()) return {};
  PERDURE_TRY(const auto there, borrowed(store, id));
  for (const auto& one : there) {
    if (!wanted.contains(one.described().text())) continue;
    PERDURE_CHECK(check_lent(store, {id.name, one.version, one.segment.attempt}, one.segment));
    wanted.erase(one.described().text());
  }
  if (wanted.empty()) return {};
  return base::fail(PERDURE_NOT_FOUND, id.text(),
                    "incomplete: what it has of another version is missing, segment " + *wanted.begin());
}

base::Result<std::vector<Manifest>> read_version(Store& store, const VersionListing& listing) {
  PERDURE_CHECK(check_present(listing));
  std::vector<Manifest> manifests;
  for (const SegmentRef& segment : listing.segments) {
    PERDURE_TRY(auto source, store.open(segment));
    PERDURE_TRY(Manifest manifest, segment::read_contents(*source));
    manifests.push_back(std::move(manifest));
    PERDURE_CHECK(check_agreement(manifests.back(), manifests.front(), listing, segment));
  }
  std::vector<const Manifest*> all;
  for (const Manifest& manifest : manifests) all.push_back(&manifest);
  PERDURE_CHECK(check_version(listing, all));
  PERDURE_CHECK(check_borrowed(store, listing.id, all));
  return manifests;
}

}  // namespace perdure::store
