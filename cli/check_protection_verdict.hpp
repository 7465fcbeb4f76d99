#pragma once
// What `perdure run --check-protection` decides: where the second run goes on from, and what differences between runs
// mean. Pure: it knows no process, file or store.
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "plan/relaunch.hpp"

namespace perdure::cli {

/// One complete version that a run left in its store.
struct Checkpoint {
  std::string name;
  std::uint64_t version = 0;
  std::uint64_t created_ns = 0;  ///< when its attempt began
  std::string text() const;      ///< "nbody@7"
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

/// "VERSION" or "NAME@VERSION"; PERDURE_INVALID_ARGUMENT for anything else.
struct RestoreRequest {
  std::string name;  ///< empty: any
  std::uint64_t version = 0;
};
base::Result<RestoreRequest> parse_restore_request(const std::string& text);

/// The moment from which the second run goes on: it finds every version created until then, and the later ones are
/// compared. Without a request: the earliest moment at which every name of which there are two versions or more has
/// one. PERDURE_NOT_FOUND when there is no such moment, or nothing later.
base::Result<std::uint64_t> restore_point(const std::vector<Checkpoint>& written,
                                          const std::optional<RestoreRequest>& request);

/// A region of a checkpoint, on all ranks and in all versions.
struct RegionKey {
  std::string name;  ///< of the checkpoint
  std::int32_t region = 0;
  friend auto operator<=>(const RegionKey&, const RegionKey&) = default;
};

/// How one region of one rank differs in one version.
struct RegionDefect {
  std::uint64_t element_bytes = 0, count = 0;  ///< as the undisturbed run has it
  std::optional<std::uint64_t> first_element;  ///< nothing: it has another size, or is in one of the runs only
  std::uint64_t elements = 0;                  ///< that differ
  std::string what;                            ///< both values, or both sizes
};

/// The same over all ranks and versions: the first one, and how many there are.
struct RegionDifference {
  std::uint64_t version = 0;
  std::uint32_t rank = 0;
  RegionDefect defect;
  std::set<std::uint64_t> versions;
  std::set<std::uint32_t> ranks;
};

/// What is known of two runs that should have written the same.
struct Comparison {
  std::vector<Checkpoint> compared;               ///< ascending by time
  std::vector<Checkpoint> only_here, only_there;  ///< versions of one run that the other lacks
  std::map<RegionKey, RegionDifference> differing;
  std::set<RegionKey> seen;

  /// Called in the order of versions and ranks: the first call about a region is its first difference.
  void add(const RegionKey& key, std::uint64_t version, std::uint32_t rank, const RegionDefect& defect);
  std::vector<RegionKey> equal() const;
  bool all_equal() const { return differing.empty() && only_here.empty() && only_there.empty(); }
};

/// Which versions both runs have, and which only one has. Those that one run alone has count only when both ended by
/// themselves with status 0: a run that was ended has fewer.
Comparison match(const std::vector<Checkpoint>& here, const std::vector<Checkpoint>& there, bool both_ended_well);

struct CheckFacts {
  plan::ProgramEnd undisturbed, resumed;
  std::vector<std::string> offered;   ///< what the second run could restore, "nbody@7"
  std::vector<std::string> restored;  ///< and what it did restore
  Comparison comparison;              ///< undisturbed and resumed
  std::optional<plan::ProgramEnd> repeated;
  std::optional<Comparison> repetition;  ///< undisturbed and undisturbed again
};

enum class Finding { same, differs, unknown };
struct Verdict {
  Finding finding = Finding::unknown;
  std::string text;               ///< what was found and what it means, in sentences
  std::set<RegionKey> suspected;  ///< regions that differ because something was not protected
  std::set<RegionKey> unsteady;   ///< regions that differ between undisturbed runs, too
};

/// Whether the undisturbed run has to be repeated: only that tells a program that never does the same twice from one
/// that lacks something.
bool needs_repetition(const CheckFacts& facts);
Verdict judge(const CheckFacts& facts);

bool same_end(const plan::ProgramEnd& one, const plan::ProgramEnd& other);
const char* finding_name(Finding finding);
/// "region 3 of nbody, region 4 of nbody".
std::string regions_text(const std::set<RegionKey>& regions);

}  // namespace perdure::cli
