#include "reader/inventory.hpp"

#include <algorithm>

#include "reader/branches.hpp"
#include "store/renamed.hpp"

namespace perdure::reader {
namespace {

SegmentFacts read_segment(store::Store& store, const store::SegmentRef& ref) {
  SegmentFacts facts{ref, 0, std::nullopt, std::nullopt};
  auto source = store.open(ref);
  if (!source) {
    facts.error = source.error();
    return facts;
  }
  facts.bytes = (*source)->size();
  auto manifest = segment::read_contents(**source);
  if (manifest) {
    facts.manifest = std::move(*manifest);
  } else {
    facts.error = manifest.error();
  }
  return facts;
}

void find_missing(VersionFacts& facts) {
  std::vector<std::uint32_t> segments, ranks;
  for (const SegmentFacts& segment : facts.segments) {
    segments.push_back(segment.ref.index);
    if (!segment.manifest) continue;
    facts.ranks = std::max(facts.ranks, segment.manifest->ranks);
    for (const std::uint32_t rank : segment.manifest->ranks_here()) ranks.push_back(rank);
  }
  std::sort(ranks.begin(), ranks.end());
  facts.missing_segments = missing_ranges(segments, facts.listing.segment_count);
  facts.missing_ranks = missing_ranges(ranks, facts.ranks);
}

// Uses the manifests that were read already.
base::Status check(store::Store& store, const VersionFacts& facts) {
  std::vector<const segment::Manifest*> manifests;
  for (const SegmentFacts& segment : facts.segments) manifests.push_back(&*segment.manifest);
  PERDURE_CHECK(store::check_version(facts.listing, manifests));
  return store::check_borrowed(store, facts.listing.id, manifests);
}

/// This check comes first: missing and damaged parts can be seen once the name is right.
bool is_renamed(VersionFacts& facts) {
  for (const SegmentFacts& segment : facts.segments)
    if (segment.manifest && store::differs_in_name(segment.manifest->id, facts.listing.id))
      facts.said_name = segment.manifest->id.name;
  return !facts.said_name.empty();
}

bool vanished(const VersionFacts& facts) {
  return std::any_of(facts.segments.begin(), facts.segments.end(), [](const SegmentFacts& segment) {
    return segment.error && segment.error->code == PERDURE_NOT_FOUND;
  });
}

}  // namespace

const char* state_name(VersionFacts::State state) {
  switch (state) {
    case VersionFacts::State::complete:
      return "complete";
    case VersionFacts::State::incomplete:
      return "incomplete";
    case VersionFacts::State::damaged:
      return "damaged";
    case VersionFacts::State::renamed:
      return "renamed";
  }
  return "unknown";
}

std::optional<base::Error> renamed(const std::vector<VersionFacts>& versions) {
  for (const VersionFacts& facts : versions)
    if (facts.state == VersionFacts::State::renamed)
      return store::renamed_directory(facts.listing.id.name, facts.said_name);
  return std::nullopt;
}

std::string missing_ranges(const std::vector<std::uint32_t>& present, std::uint32_t count) {
  std::string text;
  auto add = [&](std::uint64_t first, std::uint64_t end) {
    if (first >= end) return;
    text += (text.empty() ? "" : ",") + std::to_string(first);
    if (end - first > 1) text += "-" + std::to_string(end - 1);
  };
  std::uint64_t next = 0;
  for (std::uint32_t number : present) {
    add(next, std::min<std::uint64_t>(number, count));
    next = std::max<std::uint64_t>(next, std::uint64_t{number} + 1);
  }
  add(next, count);
  return text;
}

base::Error missing_segments(const store::VersionListing& listing) {
  std::vector<std::uint32_t> present;
  for (const auto& segment : listing.segments)
    if (segment.index < listing.segment_count) present.push_back(segment.index);
  const bool one = present.size() + 1 == listing.segment_count;
  return {PERDURE_INCOMPLETE, listing.id.text(),
          "segment" + std::string(one ? " " : "s ") + missing_ranges(present, listing.segment_count) + " of its " +
              std::to_string(listing.segment_count) + (one ? " is" : " are") + " missing",
          "perdure ls shows which versions are complete", false};
}

VersionFacts judge(store::Store& store, const store::VersionListing& listing) {
  VersionFacts facts;
  facts.listing = listing;
  for (const auto& ref : listing.segments) {
    facts.segments.push_back(read_segment(store, ref));
    facts.bytes += facts.segments.back().bytes;
  }
  find_missing(facts);
  const auto bad =
      std::find_if(facts.segments.begin(), facts.segments.end(), [](const auto& s) { return s.error.has_value(); });
  if (is_renamed(facts)) {
    facts.state = VersionFacts::State::renamed;
    facts.reason = "its segments say that they are of " + facts.said_name;
  } else if (bad != facts.segments.end()) {
    facts.state = VersionFacts::State::damaged;
    facts.reason = bad->error->text();
  } else if (const auto whole = check(store, facts); whole) {
    facts.state = VersionFacts::State::complete;
  } else {
    const bool lacking = whole.error().code == PERDURE_NOT_FOUND;
    facts.state = lacking ? VersionFacts::State::incomplete : VersionFacts::State::damaged;
    facts.reason = lacking ? whole.error().cause : whole.error().text();
  }
  return facts;
}

namespace {

void judge_listed(store::Store& store, const std::vector<store::VersionListing>& listings,
                  const std::function<bool(VersionFacts facts)>& take) {
  for (const auto& listing : listings) {
    VersionFacts facts = judge(store, listing);
    if (!vanished(facts) && !take(std::move(facts))) return;
  }
}

}  // namespace

void read_pieces(store::Store& store, VersionFacts& facts, std::optional<std::uint32_t> rank) {
  for (SegmentFacts& segment : facts.segments) {
    if (!segment.manifest || segment.manifest->tables.empty()) continue;
    const auto read = [&]() -> base::Result<segment::Manifest> {
      PERDURE_TRY(const auto source, store.open(segment.ref));
      return rank ? segment::read_rank(*source, *rank) : segment::read_manifest(*source);
    };
    if (auto whole = read()) {
      segment.manifest = std::move(*whole);
    } else {
      segment.manifest.reset();
      segment.error = whole.error();
      facts.state = VersionFacts::State::damaged;
      facts.reason = whole.error().text();
    }
  }
}

base::Status judge_each(store::Store& store, const std::string& name,
                        const std::function<bool(VersionFacts facts)>& take) {
  PERDURE_TRY(auto listings, store.list(name));
  std::stable_sort(listings.begin(), listings.end(),
                   [](const auto& a, const auto& b) { return a.id.attempt < b.id.attempt; });
  judge_listed(store, listings, take);
  return {};
}

base::Result<std::vector<VersionFacts>> inventory(store::Store& store, const std::string& name) {
  PERDURE_TRY(const auto listings, store.list(name));
  std::vector<VersionFacts> all;
  judge_listed(store, listings, [&all](VersionFacts facts) {
    all.push_back(std::move(facts));
    return true;
  });
  return all;
}

base::Result<std::map<std::string, std::uint64_t>> newest_complete(store::Store& store) {
  PERDURE_TRY(const auto names, store.names());
  std::map<std::string, std::uint64_t> newest;
  for (const std::string& name : names) {
    auto listings = store.list(name);
    if (!listings) continue;
    const auto branches = branches_of(store, name, *listings);
    if (!branches) continue;
    for (const auto& listing : newest_first(*listings, *branches)) {
      if (!store::read_version(store, listing)) continue;
      newest[name] = listing.id.version;
      break;
    }
  }
  return newest;
}

}  // namespace perdure::reader
