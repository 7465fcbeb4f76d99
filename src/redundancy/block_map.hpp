#pragma once
// What the positions of a group keep for each other, and what it is made of: the way of encoding of a scheme, as data.
// Whatever a scheme keeps is a sum of blocks, each multiplied with a factor: a copy is the sum of one, an exclusive or
// has factors of 1. Pure.
#include <memory>
#include <span>
#include <vector>

#include "redundancy/combination.hpp"
#include "redundancy/restoration.hpp"

namespace perdure::redundancy {

/// Part of a sum: an item, and what it is multiplied with.
struct Term {
  Item item;
  Symbol factor = 1;
  friend bool operator==(const Term&, const Term&) = default;
};

/// A block that a position keeps for others. `number`, with which GroupState names it, is unique on its position;
/// `stripe` and `index` are the name that records give it, unique in the group.
struct Kept {
  unsigned position = 0;
  std::uint64_t number = 0;
  std::uint64_t stripe = 0;
  std::uint32_t index = 0;
  friend bool operator==(const Kept&, const Kept&) = default;
};

/// Of a group of one size. `blocks`: how many each member has. Immutable.
class BlockMap {
 public:
  virtual ~BlockMap() = default;
  /// What a position keeps, ascending by number: nothing that none of these blocks is a part of. A server's position is
  /// the one after the members'.
  virtual std::vector<Kept> kept(unsigned position, std::span<const std::uint64_t> blocks) const = 0;
  /// All that is kept for a block, on whatever positions.
  virtual std::vector<Kept> kept_for(Block block) const = 0;
  /// The blocks that a kept one is the sum of. Those that their members do not have count as zeros.
  virtual std::vector<Term> recipe(const Kept& kept) const = 0;
  /// A block that is lost or damaged as the sum of items that are there, data before what is kept. PERDURE_NOT_FOUND
  /// when there are too few.
  virtual base::Result<std::vector<Term>> rebuild(const GroupState& state, Block block) const = 0;
  /// When every member has a multiple of so many blocks, all keep alike.
  virtual unsigned cycle() const { return 1; }
};

/// What a scheme without redundancy has, and any scheme in a group that it cannot have: one object.
std::shared_ptr<const BlockMap> nothing_kept();

/// Of one target, with these factors; the fastest kernels, where factors other than 1 need them.
Combination sum_of(std::vector<Symbol> factors);
Combination sum_of(std::span<const Term> terms);

}  // namespace perdure::redundancy
