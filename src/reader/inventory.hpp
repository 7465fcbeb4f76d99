#pragma once
// What a store holds, judged to manifest level: the facts behind ls, show, prune and the summary of run.
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
  std::string said_name = {};  ///< renamed: the checkpoint that its segments say they are of
  bool complete() const { return state == State::complete; }
};

/// The error of a name whose directory was renamed; nothing where none of its versions says so.
std::optional<base::Error> renamed(const std::vector<VersionFacts>& versions);

const char* state_name(VersionFacts::State state);

/// Judges one attempt after the other, the oldest first, until `take` gives false. Those that vanish meanwhile (retired
/// by a running job) are left out.
base::Status judge_each(store::Store& store, const std::string& name,
                        const std::function<bool(VersionFacts facts)>& take);
/// All of them, as the store lists them.
base::Result<std::vector<VersionFacts>> inventory(store::Store& store, const std::string& name);
/// What was left out where a segment has tables (format 3): all pieces, or that of one rank.
void read_pieces(store::Store& store, VersionFacts& facts, std::optional<std::uint32_t> rank);
VersionFacts judge(store::Store& store, const store::VersionListing& listing);

/// Of each name, the newest version of the current line that is complete. Names without one are left out.
base::Result<std::map<std::string, std::uint64_t>> newest_complete(store::Store& store);

/// What [0, count) lacks, as ranges; `present` ascending.
std::string missing_ranges(const std::vector<std::uint32_t>& present, std::uint32_t count);

}  // namespace perdure::reader
