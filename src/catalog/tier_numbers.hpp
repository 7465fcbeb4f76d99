#pragma once
// Tiers have a number in the log that is theirs for as long as records refer to it, and in each launch a position among
// those that could be opened: which is which, and what cannot be reached in this launch. Pure. (docs/adr/0024)
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "catalog/state.hpp"

namespace perdure::catalog {

/// As a chunk's place: this, and the number of a tier that cannot be reached in this launch.
inline constexpr std::uint32_t kUnreachableTier = 0x80000000;

/// A tier that was opened in this launch.
struct OpenedTier {
  std::string name;
  std::uint64_t incarnation = 0;
  TierPlace place;
};

/// Says of records and states with positions what they are with the log's numbers, and the other way round.
class TierNumbers {
 public:
  /// Positions and numbers are the same.
  TierNumbers() = default;
  /// The number of the tier at each position.
  explicit TierNumbers(std::vector<std::uint32_t> by_position) : by_position_(std::move(by_position)) {}
  bool same() const { return by_position_.empty(); }  ///< as they are now
  /// The record as the log has it.
  Record numbered(const Record& record) const;
  /// The state of the log, with positions for places. What is not at one of them is unreachable.
  State placed(State state) const;
  bool has(std::uint32_t number) const;

 private:
  std::uint32_t number_of(std::uint32_t place) const;
  std::uint32_t place_of(std::uint32_t number) const;
  std::vector<std::uint32_t> by_position_;
};

/// What a launch that opened these tiers, in this order, says of them.
struct TierNumbering {
  std::vector<TierRecord> records;     ///< to be appended first: what is new, and what is gone
  std::vector<std::uint32_t> numbers;  ///< by position
  std::set<std::uint32_t> gone = {};   ///< numbers under which there was something else before
};
/// A tier is known by its name and incarnation. One that is unknown takes the number of the tier whose very place it
/// has, of which nothing can be left then, or a number that nothing refers to. What `boot` shows to be gone is said to
/// be.
TierNumbering number_tiers(const State& log, const std::vector<OpenedTier>& opened, std::uint64_t boot);

/// A tier that is not among those opened.
struct AbsentTier {
  TierRecord tier;
  std::vector<segment::VersionId> versions;  ///< with a chunk, or a kept block, there
};
/// All that are known, with something there or not. `log`: before it is placed.
std::vector<AbsentTier> absent_tiers(const State& log, const std::vector<OpenedTier>& opened);

}  // namespace perdure::catalog
