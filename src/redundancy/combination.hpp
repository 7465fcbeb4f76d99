#pragma once
// Computes targets that are sums of products of sources: encoding and decoding both have this form.
#include <span>
#include <vector>

#include "base/bytes.hpp"
#include "redundancy/kernels.hpp"

namespace perdure::redundancy {

/// Bytes of every source and target that are processed at once: with a group of 32 they stay in a cache of 512 KiB. To
/// hash in the same pass, call apply() for one such part after the other and hash in between. The result is the same.
inline constexpr std::size_t kBlockBytes = 16 * base::KiB;

/// Immutable; many threads may use it. No buffer needs to be aligned. Targets overlap neither each other nor sources.
class Combination {
 public:
  /// `coefficients` is rows x columns, row by row; a row is a target, a column a source. At most kMaxItems of each.
  Combination(unsigned rows, unsigned columns, std::vector<Symbol> coefficients, const Kernels& kernels);

  unsigned rows() const { return rows_; }
  unsigned columns() const { return columns_; }

  /// Computes targets[r] = sum over c of coefficient[r][c] * sources[c]. Sources shorter than a target count as padded
  /// with zeros; the rest of longer ones is not read.
  void apply(std::span<const base::ConstByteSpan> sources, std::span<const base::ByteSpan> targets) const;

  /// Computes targets[r] += coefficient[r][column] * source, up to the shorter length. Called for every source, in any
  /// order, on zeroed targets, it gives the result of apply().
  void add(unsigned column, base::ConstByteSpan source, std::span<const base::ByteSpan> targets) const;

 private:
  struct Part;
  static void next(Part& part, std::span<const base::ConstByteSpan> sources, std::span<const base::ByteSpan> targets);
  void apply_part(const Part& part) const;
  void add_part(const Part& part) const;
  const Symbol* tables_for(const Part& part, std::vector<Symbol>& own) const;
  bool is_sum(const Part& part) const;

  unsigned rows_, columns_;
  std::vector<Symbol> coefficients_, tables_;
  const Kernels* kernels_;
};

}  // namespace perdure::redundancy
