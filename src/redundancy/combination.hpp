#pragma once
// Targets that are sums of products of sources: what encoding and decoding are alike.
#include <span>
#include <vector>

#include "base/bytes.hpp"
#include "redundancy/kernels.hpp"

namespace perdure::redundancy {

/// What is processed at once of every source and target: with a group of 32 it stays in a cache of 512 KiB. Who wants
/// to hash in the same pass calls apply() for one such part after the other and hashes in between: the result is the
/// same.
inline constexpr std::size_t kBlockBytes = 16 * base::KiB;

/// Immutable; may be used by many threads. No buffer needs to be aligned. Targets overlap neither each other nor
/// sources.
class Combination {
 public:
  /// `coefficients`: rows x columns, row by row; a row is a target, a column a source. At most kMaxItems of each.
  Combination(unsigned rows, unsigned columns, std::vector<Symbol> coefficients, const Kernels& kernels);

  unsigned rows() const { return rows_; }
  unsigned columns() const { return columns_; }

  /// targets[r] = sum over c of coefficient[r][c] * sources[c]. Sources shorter than a target count as filled up with
  /// zeros; of longer ones the rest is not read.
  void apply(std::span<const base::ConstByteSpan> sources, std::span<const base::ByteSpan> targets) const;

  /// targets[r] += coefficient[r][column] * source, as far as both go: what apply() does, one source after the other,
  /// in any order, upon targets that were zero.
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
