#pragma once
// Judges a store's content by its manifests, without reading chunks: the facts behind ls, show, prune and the summary
// of run.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "segment/manifest.hpp"
#include "store/store.hpp"

namespace perdure::reader {

struct SegmentFacts {
  store::SegmentRef ref;
  std::uint64_t bytes = 0;
  std::optional<segment::Manifest> manifest;
  std::optional<base::Error> error;  ///< why there is no manifest
};

/// One attempt at one version.
struct VersionFacts {
  enum class State { complete, incomplete, damaged, renamed } state = State::incomplete;
  store::VersionListing listing;
  std::vector<SegmentFacts> segments;
  std::string reason;       ///< why it is not complete
  std::uint32_t ranks = 0;  ///< 0: unknown
  std::uint64_t bytes = 0;
  std::string missing_segments;  ///< as ranges, "1,3-4"
  std::string missing_ranks;
  std::string said_name = {};  ///< renamed: the checkpoint's name in its segments
  bool complete() const { return state == State::complete; }
};

/// Returns the error of a name whose directory was renamed by hand; nothing if none of its versions shows that.
std::optional<base::Error> renamed(const std::vector<VersionFacts>& versions);

const char* state_name(VersionFacts::State state);

/// Judges one attempt after the other, the oldest first, until `take` returns false. It omits those that vanish
/// meanwhile (retired by a running job).
base::Status judge_each(store::Store& store, const std::string& name,
                        const std::function<bool(VersionFacts facts)>& take);
/// Returns all of them, in the store's order.
base::Result<std::vector<VersionFacts>> inventory(store::Store& store, const std::string& name);
/// Reads the pieces that were left out of a segment with tables (format 3): all, or that of one rank.
void read_pieces(store::Store& store, VersionFacts& facts, std::optional<std::uint32_t> rank);
VersionFacts judge(store::Store& store, const store::VersionListing& listing);

/// Returns for each name the newest complete version of the current line. Omits names without one.
base::Result<std::map<std::string, std::uint64_t>> newest_complete(store::Store& store);

/// Returns the error of a version that lacks segments.
base::Error missing_segments(const store::VersionListing& listing);

/// Returns the numbers of [0, count) missing in `present`, which ascends, as ranges.
std::string missing_ranges(const std::vector<std::uint32_t>& present, std::uint32_t count);

}  // namespace perdure::reader
