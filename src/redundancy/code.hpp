#pragma once
// Implements the erasure code of one stripe: m parities over k data items, of which any m may be missing. With m = 1 it
// is a plain exclusive or. The items of a stripe are numbered: 0 .. k-1 the data, k .. k+m-1 the parities.
//
// Lengths: a data item may be shorter than the parities, or empty. It counts as padded with zeros, without a copy. A
// parity is at least as long as the longest data item. All this holds for any part of the items alike (the same range
// of bytes of each). So a stripe can be processed as it arrives.
#include <bitset>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "redundancy/combination.hpp"

namespace perdure::redundancy {

using Items = std::bitset<kMaxItems>;  ///< a set of items of a stripe

/// Says how missing items are computed from the others.
struct Recovery {
  std::vector<unsigned> sources;  ///< items, ascending: the columns of `combination`
  Combination combination;        ///< its rows are the wanted items, in the order of the request
};

class Code {
 public:
  /// Fails with PERDURE_INVALID_ARGUMENT unless k >= 1, 1 <= m <= kMaxParities and k + m <= kMaxItems. `kernels` is for
  /// tests. By default the fastest are used; for m > 1 ISA-L is loaded.
  static base::Result<Code> make(unsigned k, unsigned m, const Kernels* kernels = nullptr);

  unsigned k() const { return k_; }
  unsigned m() const { return m_; }

  /// Computes all parities of `data`. PERDURE_INVALID_ARGUMENT: there are not k and m spans, or a parity is too short.
  base::Status encode(std::span<const base::ConstByteSpan> data, std::span<const base::ByteSpan> parities) const;

  /// Adds data item `index` to parities that were zero before the first of them. It is encode(), one contributor at a
  /// time, in any order, with the same errors.
  base::Status update(unsigned index, base::ConstByteSpan data, std::span<const base::ByteSpan> parities) const;

  /// Returns the combination that computes the `wanted` items from `available` ones; both may be data or parities.
  /// PERDURE_NOT_FOUND: more than m items are missing. PERDURE_INVALID_ARGUMENT: a wanted item is none.
  base::Result<Recovery> recovery(const Items& available, std::span<const unsigned> wanted) const;

  /// Rebuilds wanted[i] into targets[i], each to its own length. `items` has k + m spans, of which it reads the
  /// available ones. Errors are those of recovery(), and PERDURE_MISMATCH if lengths cannot be those of a stripe: a
  /// parity is shorter than the data that it encodes.
  base::Status decode(const Items& available, std::span<const base::ConstByteSpan> items,
                      std::span<const unsigned> wanted, std::span<const base::ByteSpan> targets) const;

 private:
  Code(unsigned k, unsigned m, const Kernels& kernels);
  base::Status check_lengths(const Recovery& recovery, std::span<const base::ConstByteSpan> items,
                             std::span<const unsigned> wanted, std::span<const base::ByteSpan> targets) const;

  unsigned k_, m_;
  const Kernels* kernels_;
  Combination parities_;
};

}  // namespace perdure::redundancy
