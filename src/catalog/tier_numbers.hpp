#pragma once
// Maps tiers between launches. A tier keeps its number in the log as long as records refer to it. In each launch it has
// a position among those that could be opened, or cannot be reached. Pure. (docs/adr/0024)
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "catalog/state.hpp"

namespace perdure::catalog {

/// A chunk's place: this, and the number of a tier that cannot be reached in this launch.
inline constexpr std::uint32_t kUnreachableTier = 0x80000000;

/// A tier that was opened in this launch.
struct OpenedTier {
  std::string name;
  std::uint64_t incarnation = 0;
  TierPlace place;
};

/// Converts records and states between positions and the log's numbers.
class TierNumbers {
 public:
  /// Positions and numbers are the same.
  TierNumbers() = default;
  /// Takes the number of the tier at each position.
  explicit TierNumbers(std::vector<std::uint32_t> by_position) : by_position_(std::move(by_position)) {}
  bool same() const { return by_position_.empty(); }  ///< they need no conversion
  /// Returns the record as the log has it.
  Record numbered(const Record& record) const;
  /// Returns the log's state with positions for places. Content without a position is unreachable.
  State placed(State state) const;
  bool has(std::uint32_t number) const;

 private:
  std::uint32_t number_of(std::uint32_t place) const;
  std::uint32_t place_of(std::uint32_t number) const;
  std::vector<std::uint32_t> by_position_;
};

/// The consequences of opening these tiers, in this order, in a launch.
struct TierNumbering {
  std::vector<TierRecord> records;     ///< to be appended first: new tiers, and lost ones
  std::vector<std::uint32_t> numbers;  ///< by position
  std::set<std::uint32_t> gone = {};   ///< numbers that belonged to other tiers before
};
/// Identifies a tier by its name and incarnation. An unknown one takes the number of the tier in whose very place it
/// is, of which nothing can be left. Otherwise it takes an unreferenced number. Tiers that `boot` shows to be gone are
/// recorded as gone.
TierNumbering number_tiers(const State& log, const std::vector<OpenedTier>& opened, std::uint64_t boot);

/// A tier that is not among those opened.
struct AbsentTier {
  TierRecord tier;
  std::vector<segment::VersionId> versions;  ///< with a chunk, or a kept block, there
};
/// Returns all known tiers that were not opened, empty or not. `log` is the state before it is placed.
std::vector<AbsentTier> absent_tiers(const State& log, const std::vector<OpenedTier>& opened);

}  // namespace perdure::catalog
