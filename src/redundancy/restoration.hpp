#pragma once
// Describes a group's losses, and the source of each lost block: the input and the output of a scheme's decision. Plain
// data.
#include <bitset>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "redundancy/field.hpp"
#include "redundancy/stripes.hpp"

namespace perdure::redundancy {

/// A set of positions of a group: members 0 .. n-1, and n, its parity server, if it has one.
using Positions = std::bitset<kMaxItems + 1>;

/// An item of a position: a block of its own, or one that it keeps for others. The latter is the copy of a block of the
/// position before it, or the parity of a stripe. It has the number of that block or stripe.
struct Item {
  enum class Kind { data, kept };
  Kind kind = Kind::data;
  unsigned position = 0;
  std::uint64_t number = 0;
  friend auto operator<=>(const Item&, const Item&) = default;
};

struct GroupState {
  unsigned n = 0;                     ///< members
  unsigned m = 0;                     ///< parities per stripe
  std::vector<std::uint64_t> blocks;  ///< of each member, lost or not: all members know how many each has
  Positions lost;                     ///< with all their items
  std::set<Item> damaged;             ///< single items that are missing or do not match their hashes

  bool has_data(Block block) const;
  bool has_kept(unsigned position, std::uint64_t number) const;
};

/// The source of a block, or why there is none.
struct Restoration {
  enum class How {
    in_place,    ///< it is in its place
    copy,        ///< `position` keeps a copy
    decode,      ///< from `stripe`, which lacks `missing` items
    only_there,  ///< gone: the scheme keeps no redundancy
    copy_gone,   ///< gone: so is the copy at `position`
    stripe_gone  ///< gone: `stripe` lacks `missing` items, more than its parities can replace
  };
  How how = How::in_place;
  unsigned position = 0;
  std::uint64_t stripe = 0;
  unsigned missing = 0;   ///< items of the stripe, parities included
  unsigned parities = 0;  ///< as many items it may lack
};

bool restorable(const Restoration& restoration);
/// Returns a sentence about the block without its subject, for reports: "is gone, and so is its copy at position 2".
std::string restoration_text(const Restoration& restoration);

}  // namespace perdure::redundancy
