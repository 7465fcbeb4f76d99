#pragma once
// Maps blocks of nodes to stripes, and places a stripe's parities (ADR 0014). Every query takes constant time, however
// many blocks there are.
#include <cstdint>
#include <span>

namespace perdure::redundancy {

/// A block of a node, as numbered by its BlockOrder, and the node, as its position in the group.
struct Block {
  unsigned position = 0;
  std::uint64_t number = 0;
  friend auto operator<=>(const Block&, const Block&) = default;
};

/// A data item of a stripe: as numbered by Code.
struct Place {
  std::uint64_t stripe = 0;
  unsigned index = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

/// A group of n positions with m parities per stripe. Stripe s has parity j on position (s + j) mod n. The k = n - m
/// other positions contribute a block each: data item i is the next block of position (s + m + i) mod n. So all keep
/// and contribute alike. Or the parities are on a server: then every position contributes to every stripe, and the
/// server is position n.
class Stripes {
 public:
  /// Requires m < n.
  Stripes(unsigned n, unsigned m) : n_(n), m_(m), k_(n - m) {}
  static Stripes at_server(unsigned n);

  unsigned n() const { return n_; }
  unsigned m() const { return m_; }
  unsigned k() const { return k_; }  ///< data items per stripe

  /// Requires j < m.
  unsigned parity_position(std::uint64_t stripe, unsigned j) const;
  /// Returns the block that is data item `index` (< k) of a stripe. The caller checks whether its position has as many;
  /// a block that it lacks counts as empty.
  Block block(Place place) const;
  Place place(Block block) const;  ///< the inverse

  /// Returns the number of stripes that hold all blocks, if position p has blocks[p].
  std::uint64_t count(std::span<const std::uint64_t> blocks) const;

  /// Returns how many of the first `stripes` stripes have a parity on `position`.
  std::uint64_t parities_at(unsigned position, std::uint64_t stripes) const;
  /// Returns the number-th (from 0) parity on `position`: its stripe, and its index there.
  Place parity_at(unsigned position, std::uint64_t number) const;

 private:
  Stripes(unsigned n, unsigned m, unsigned k) : n_(n), m_(m), k_(k) {}
  bool served() const { return k_ == n_; }
  /// Returns how many of the stripes 0 .. residue-1 (residue <= n) have a parity on `position`.
  unsigned parities_before(unsigned position, unsigned residue) const;

  unsigned n_, m_, k_;
};

}  // namespace perdure::redundancy
