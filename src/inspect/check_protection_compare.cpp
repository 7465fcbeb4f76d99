#include "inspect/check_protection_compare.hpp"

#include <algorithm>

#include "inspect/check_protection_region.hpp"
#include "segment/region_pairing.hpp"
#include "segment/segment.hpp"

namespace perdure::inspect {
namespace {

constexpr std::size_t kCopyBytes = 4 * base::MiB;

/// The pieces of one version by rank; opens a segment when it is asked for one of its ranks.
class VersionPieces {
 public:
  static base::Result<VersionPieces> read(store::Store& store, const std::vector<StoredCheckpoint>& all,
                                          const Checkpoint& wanted) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const StoredCheckpoint& one) {
      return one.what.name == wanted.name && one.what.version == wanted.version;
    });
    if (found == all.end()) return base::fail(PERDURE_NOT_FOUND, wanted.text(), "it is not in the store any more");
    VersionPieces pieces;
    pieces.store_ = &store;
    pieces.listing_ = found->listing;
    for (const auto& ref : found->listing.segments) {
      PERDURE_TRY(const auto source, store.open(ref));
      PERDURE_TRY(auto manifest, segment::read_manifest(*source));
      pieces.manifests_.push_back(std::move(manifest));
    }
    for (std::size_t i = 0; i < pieces.manifests_.size(); ++i)
      for (std::size_t j = 0; j < pieces.manifests_[i].pieces.size(); ++j)
        pieces.places_[pieces.manifests_[i].pieces[j].rank] = {i, j};
    return pieces;
  }
  const std::map<std::uint32_t, std::pair<std::size_t, std::size_t>>& places() const { return places_; }
  bool has(std::uint32_t rank) const { return places_.contains(rank); }
  const segment::Piece& piece(std::uint32_t rank) const {
    const auto [segment, index] = places_.at(rank);
    return manifests_[segment].pieces[index];
  }
  base::Result<StoredPiece> open(std::uint32_t rank) {
    const std::size_t segment = places_.at(rank).first;
    if (!source_ || open_ != segment) {
      PERDURE_TRY(source_, store_->open(listing_.segments[segment]));
      open_ = segment;
    }
    return StoredPiece{source_.get(), &piece(rank)};
  }

 private:
  store::Store* store_ = nullptr;
  store::VersionListing listing_;
  std::vector<segment::Manifest> manifests_;
  std::map<std::uint32_t, std::pair<std::size_t, std::size_t>> places_;  ///< by rank: segment, piece
  std::unique_ptr<segment::ByteSource> source_;
  std::size_t open_ = 0;
};

/// The numbers of one rank's region in each run; empty: that run does not have it.
struct RegionPair {
  std::optional<std::int32_t> here, there;
  std::int32_t number() const { return here ? *here : *there; }
};

// Finds pairs as a restore would: by their names.
std::vector<RegionPair> region_pairs(const VersionPieces& here, const VersionPieces& there, std::uint32_t rank) {
  static const std::vector<segment::RegionEntry> none;
  const auto& mine = here.has(rank) ? here.piece(rank).regions : none;
  const auto& others = there.has(rank) ? there.piece(rank).regions : none;
  const auto partners = segment::pair_regions(segment::called(mine), segment::called(others));
  std::vector<RegionPair> all;
  std::vector<bool> paired(others.size());
  for (std::size_t i = 0; i < mine.size(); ++i) {
    all.push_back({mine[i].id, std::nullopt});
    if (partners[i] == segment::kNoPartner) continue;
    all.back().there = others[partners[i]].id;
    paired[partners[i]] = true;
  }
  for (std::size_t j = 0; j < others.size(); ++j)
    if (!paired[j]) all.push_back({std::nullopt, others[j].id});
  return all;
}

base::Status compare_rank(VersionPieces& here, VersionPieces& there, std::uint32_t rank, const Checkpoint& version,
                          Comparison& comparison) {
  StoredPiece one, other;
  if (here.has(rank)) {
    PERDURE_TRY(one, here.open(rank));
  }
  if (there.has(rank)) {
    PERDURE_TRY(other, there.open(rank));
  }
  RegionComparison regions(one, other);
  for (const RegionPair& region : region_pairs(here, there, rank)) {
    const RegionKey key{version.name, region.number()};
    comparison.seen.insert(key);
    PERDURE_TRY(const auto defect, regions.compare(region.here, region.there));
    if (defect) comparison.add(key, version.version, rank, *defect);
  }
  return {};
}

base::Status compare_version(VersionPieces here, VersionPieces there, const Checkpoint& version, Comparison& comparison,
                             const GoOn& go_on) {
  std::set<std::uint32_t> ranks;
  for (const VersionPieces* pieces : {&here, &there})
    for (const auto& [rank, place] : pieces->places()) ranks.insert(rank);
  for (const std::uint32_t rank : ranks) {
    PERDURE_CHECK(go_on());
    PERDURE_CHECK(compare_rank(here, there, rank, version, comparison));
  }
  return {};
}

base::Status copy_segment(const segment::ByteSource& source, store::SegmentSink& sink) {
  std::vector<std::byte> buffer(std::min<std::uint64_t>(kCopyBytes, source.size()));
  for (std::uint64_t done = 0; done < source.size();) {
    const auto block = base::ByteSpan(buffer).first(std::min<std::uint64_t>(buffer.size(), source.size() - done));
    PERDURE_CHECK(source.read(done, block));
    PERDURE_CHECK(sink.write(done, block));
    done += block.size();
  }
  return sink.commit();
}

}  // namespace

base::Result<std::vector<StoredCheckpoint>> complete_versions(store::Store& store) {
  PERDURE_TRY(const auto names, store.names());
  std::vector<StoredCheckpoint> all;
  for (const std::string& name : names) {
    PERDURE_TRY(const auto listings, store.list(name));
    std::map<std::uint64_t, StoredCheckpoint> newest;  // they come in the order of their attempts
    for (const auto& listing : listings)
      if (store::read_version(store, listing))
        newest[listing.id.version] = {{name, listing.id.version, listing.id.attempt.created_ns}, listing};
    for (auto& [version, stored] : newest) all.push_back(std::move(stored));
  }
  std::stable_sort(all.begin(), all.end(), [](const StoredCheckpoint& a, const StoredCheckpoint& b) {
    return a.what.created_ns < b.what.created_ns;
  });
  return all;
}

base::Status copy_version(store::Store& from, const store::VersionListing& listing, store::Store& to) {
  PERDURE_TRY(const auto manifests, store::read_version(from, listing));
  for (std::size_t i = 0; i < manifests.size(); ++i) {
    PERDURE_TRY(const auto source, from.open(listing.segments[i]));
    PERDURE_TRY(const auto sink, to.begin(manifests[i], source->size()));
    PERDURE_CHECK(copy_segment(*source, *sink));
  }
  return {};
}

base::Status compare_stores(store::Store& here, store::Store& there, Comparison& comparison, const GoOn& go_on) {
  PERDURE_TRY(const auto mine, complete_versions(here));
  PERDURE_TRY(const auto others, complete_versions(there));
  for (const Checkpoint& version : comparison.compared) {
    PERDURE_TRY(auto one, VersionPieces::read(here, mine, version));
    PERDURE_TRY(auto other, VersionPieces::read(there, others, version));
    PERDURE_CHECK(compare_version(std::move(one), std::move(other), version, comparison, go_on));
  }
  return {};
}

}  // namespace perdure::inspect
