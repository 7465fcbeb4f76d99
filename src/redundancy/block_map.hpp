#pragma once
// Describes, as data, which redundancy blocks the positions of a group keep for each other, and how each is encoded.
// Every redundancy block is a sum of blocks, each multiplied with a factor. A copy is the sum of one block, an
// exclusive or has factors of 1. Pure.
#include <memory>
#include <span>
#include <vector>

#include "redundancy/combination.hpp"
#include "redundancy/restoration.hpp"

namespace perdure::redundancy {

/// A term of a sum: an item and its factor.
struct Term {
  Item item;
  Symbol factor = 1;
  friend bool operator==(const Term&, const Term&) = default;
};

/// A block that a position keeps for others. GroupState names it by `number`, which is unique on its position. Records
/// name it by `stripe` and `index`, which are unique in the group.
struct Kept {
  unsigned position = 0;
  std::uint64_t number = 0;
  std::uint64_t stripe = 0;
  std::uint32_t index = 0;
  friend bool operator==(const Kept&, const Kept&) = default;
};

/// The map of a group of one size. `blocks` says how many each member has. Immutable.
class BlockMap {
 public:
  virtual ~BlockMap() = default;
  /// Returns the blocks that a position keeps, ascending by number, without those that encode none of these blocks. A
  /// server's position is the one after the members'.
  virtual std::vector<Kept> kept(unsigned position, std::span<const std::uint64_t> blocks) const = 0;
  /// Returns all redundancy blocks for a block, on whatever positions.
  virtual std::vector<Kept> kept_for(Block block) const = 0;
  /// Returns the blocks whose sum a redundancy block is. Blocks that their members do not have count as zeros.
  virtual std::vector<Term> recipe(const Kept& kept) const = 0;
  /// Returns a lost or damaged block as the sum of available items, data before redundancy blocks. PERDURE_NOT_FOUND if
  /// there are too few.
  virtual base::Result<std::vector<Term>> rebuild(const GroupState& state, Block block) const = 0;
  /// If every member has a multiple of so many blocks, all keep equally many.
  virtual unsigned cycle() const { return 1; }
};

/// Returns the one map without redundancy, also for any scheme in a group of a size that it does not support.
std::shared_ptr<const BlockMap> nothing_kept();

/// Combines sources into one target with these factors; uses the fastest kernels if factors other than 1 need them.
Combination sum_of(std::vector<Symbol> factors);
Combination sum_of(std::span<const Term> terms);

}  // namespace perdure::redundancy
