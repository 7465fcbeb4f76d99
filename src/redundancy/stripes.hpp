#pragma once
// Which block of which node is in which stripe, and where a stripe's parities are (ADR 0014). Every question takes
// constant time, whatever there is of blocks.
#include <cstdint>
#include <span>

namespace perdure::redundancy {

/// The block of a node, as numbered by its BlockOrder, and the node, as its position in the group.
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

/// A group of n positions with m parities per stripe. Stripe s has parity j on position (s + j) mod n; the k = n - m
/// other positions contribute a block each: data item i is of position (s + m + i) mod n, its next one. So all keep and
/// contribute alike. Or the parities are on a server: then every position contributes to every stripe, and the server
/// is position n.
class Stripes {
 public:
  /// m < n.
  Stripes(unsigned n, unsigned m) : n_(n), m_(m), k_(n - m) {}
  static Stripes at_server(unsigned n);

  unsigned n() const { return n_; }
  unsigned m() const { return m_; }
  unsigned k() const { return k_; }  ///< data items per stripe

  /// j < m.
  unsigned parity_position(std::uint64_t stripe, unsigned j) const;
  /// Which block data item `index` (< k) of a stripe is. Whether its position has as many is for the caller to know:
  /// what it does not have counts as empty.
  Block block(Place place) const;
  Place place(Block block) const;  ///< the inverse

  /// The number of stripes that hold all blocks, when position p has blocks[p].
  std::uint64_t count(std::span<const std::uint64_t> blocks) const;

  /// How many of the first `stripes` stripes have a parity on `position`.
  std::uint64_t parities_at(unsigned position, std::uint64_t stripes) const;
  /// The number-th (from 0) parity on `position`: its stripe, and which parity of it.
  Place parity_at(unsigned position, std::uint64_t number) const;

 private:
  Stripes(unsigned n, unsigned m, unsigned k) : n_(n), m_(m), k_(k) {}
  bool served() const { return k_ == n_; }
  /// How many of the stripes 0 .. residue-1 (residue <= n) have a parity on `position`.
  unsigned parities_before(unsigned position, unsigned residue) const;

  unsigned n_, m_, k_;
};

}  // namespace perdure::redundancy
