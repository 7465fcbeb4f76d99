#pragma once
// What differences between the runs of `perdure run --check-protection` mean. Pure: it knows no process, file or store.
#include <compare>
#include <map>
#include <set>

#include "inspect/check_protection_start.hpp"
#include "plan/relaunch.hpp"

namespace perdure::inspect {

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

enum class ProtectionFinding { same, differs, unknown };
struct ProtectionVerdict {
  ProtectionFinding finding = ProtectionFinding::unknown;
  std::string text;               ///< what was found and what it means, in sentences
  std::set<RegionKey> suspected;  ///< regions that differ because something was not protected
  std::set<RegionKey> unsteady;   ///< regions that differ between undisturbed runs, too
};

/// Whether the undisturbed run has to be repeated: only that distinguishes a program that never does the same twice
/// from one that protects too little.
bool needs_repetition(const CheckFacts& facts);
ProtectionVerdict judge(const CheckFacts& facts);

bool same_end(const plan::ProgramEnd& one, const plan::ProgramEnd& other);
const char* finding_name(ProtectionFinding finding);
/// "region 3 of nbody, region 4 of nbody"; of many the first.
std::string regions_text(const std::set<RegionKey>& regions);

}  // namespace perdure::inspect
