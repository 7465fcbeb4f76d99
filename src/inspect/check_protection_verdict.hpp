#pragma once
// Judges differences between the runs of `perdure run --check-protection`. Pure: it knows no process, file or store.
#include <compare>
#include <map>
#include <set>

#include "inspect/check_protection_start.hpp"
#include "plan/relaunch.hpp"

namespace perdure::inspect {

/// A region of a checkpoint, on all ranks and in all versions.
struct RegionKey {
  std::string name;  ///< name of the checkpoint
  std::int32_t region = 0;
  friend auto operator<=>(const RegionKey&, const RegionKey&) = default;
};

/// How one region of one rank differs in one version.
struct RegionDefect {
  std::uint64_t element_bytes = 0, count = 0;  ///< as in the undisturbed run
  std::optional<std::uint64_t> first_element;  ///< empty: it has another size, or is in one of the runs only
  std::uint64_t elements = 0;                  ///< number of elements that differ
  std::string what;                            ///< both values, or both sizes
};

/// The differences of a region over all ranks and versions: the first one, and how many there are.
struct RegionDifference {
  std::uint64_t version = 0;
  std::uint32_t rank = 0;
  RegionDefect defect;
  std::set<std::uint64_t> versions;
  std::set<std::uint32_t> ranks;
};

/// The comparison of two runs that should have written the same.
struct Comparison {
  std::vector<Checkpoint> compared;               ///< ascending by time
  std::vector<Checkpoint> only_here, only_there;  ///< versions of one run that the other lacks
  std::map<RegionKey, RegionDifference> differing;
  std::set<RegionKey> seen;

  /// Adds a difference. Calls come in the order of versions and ranks: the first call about a region is its first
  /// difference.
  void add(const RegionKey& key, std::uint64_t version, std::uint32_t rank, const RegionDefect& defect);
  std::vector<RegionKey> equal() const;
  bool all_equal() const { return differing.empty() && only_here.empty() && only_there.empty(); }
};

/// Finds the versions that both runs have, and those that only one has. The latter count only when both runs ended by
/// themselves with status 0: a run that was ended has fewer.
Comparison match(const std::vector<Checkpoint>& here, const std::vector<Checkpoint>& there, bool both_ended_well);

struct CheckFacts {
  plan::ProgramEnd undisturbed, resumed;
  std::vector<std::string> offered;   ///< versions that the second run could restore, "nbody@7"
  std::vector<std::string> restored;  ///< versions that it did restore
  Comparison comparison;              ///< undisturbed and resumed
  std::optional<plan::ProgramEnd> repeated;
  std::optional<Comparison> repetition;  ///< undisturbed and undisturbed again
};

enum class ProtectionFinding { same, differs, unknown };
struct ProtectionVerdict {
  ProtectionFinding finding = ProtectionFinding::unknown;
  std::string text;               ///< the findings and their meaning, in sentences
  std::set<RegionKey> suspected;  ///< regions that differ because some data was not protected
  std::set<RegionKey> unsteady;   ///< regions that differ between undisturbed runs, too
};

/// Tells whether the undisturbed run has to be repeated. Only that tells a program that never does the same twice from
/// one that protects too little.
bool needs_repetition(const CheckFacts& facts);
ProtectionVerdict judge(const CheckFacts& facts);

bool same_end(const plan::ProgramEnd& one, const plan::ProgramEnd& other);
const char* finding_name(ProtectionFinding finding);
/// Writes "region 3 of nbody, region 4 of nbody"; the first ones if there are many.
std::string regions_text(const std::set<RegionKey>& regions);

}  // namespace perdure::inspect
