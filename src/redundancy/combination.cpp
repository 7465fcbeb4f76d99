#include "redundancy/combination.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace perdure::redundancy {

/// A range of bytes in which the same sources and targets take part.
struct Combination::Part {
  std::size_t begin = 0, end = 0;
  unsigned rows = 0, columns = 0;
  std::array<unsigned char, kMaxItems> row{}, column{};  // which ones
  std::array<const std::byte*, kMaxItems> sources{};     // at `begin`
  std::array<std::byte*, kMaxItems> targets{};
};

Combination::Combination(unsigned rows, unsigned columns, std::vector<Symbol> coefficients, const Kernels& kernels)
    : rows_(rows), columns_(columns), coefficients_(std::move(coefficients)), kernels_(&kernels) {
  const bool sum = std::all_of(coefficients_.begin(), coefficients_.end(), [](Symbol c) { return c == 1; });
  if (rows == 1 && sum) return;  // only an exclusive or will ever be asked for
  tables_.resize(coefficients_.size() * kTableBytes);
  kernels.prepare(columns, rows, coefficients_.data(), tables_.data());
}

bool Combination::is_sum(const Part& part) const {
  if (part.rows != 1) return false;
  const Symbol* row = coefficients_.data() + std::size_t{part.row[0]} * columns_;
  return std::all_of(part.column.begin(), part.column.begin() + part.columns, [&](auto c) { return row[c] == 1; });
}

// If only some take part, the kernels need tables for just those.
const Symbol* Combination::tables_for(const Part& part, std::vector<Symbol>& own) const {
  if (part.rows == rows_ && part.columns == columns_) return tables_.data();
  std::vector<Symbol> some;
  some.reserve(std::size_t{part.rows} * part.columns);
  for (unsigned r = 0; r < part.rows; ++r)
    for (unsigned c = 0; c < part.columns; ++c)
      some.push_back(coefficients_[std::size_t{part.row[r]} * columns_ + part.column[c]]);
  own.resize(some.size() * kTableBytes);
  kernels_->prepare(part.columns, part.rows, some.data(), own.data());
  return own.data();
}

void Combination::apply_part(const Part& part) const {
  std::vector<Symbol> own;
  const bool sum = is_sum(part);
  const Symbol* tables = sum || part.columns == 0 ? nullptr : tables_for(part, own);
  auto sources = part.sources;
  auto targets = part.targets;
  for (std::size_t at = part.begin; at < part.end; at += kBlockBytes) {
    const std::size_t bytes = std::min(kBlockBytes, part.end - at);
    if (part.columns == 0)
      for (unsigned r = 0; r < part.rows; ++r) std::memset(targets[r], 0, bytes);
    else if (sum)
      exclusive_or(targets[0], std::span(sources).first(part.columns), bytes);
    else
      kernels_->combine(bytes, part.columns, part.rows, tables, sources.data(), targets.data());
    for (unsigned c = 0; c < part.columns; ++c) sources[c] += bytes;
    for (unsigned r = 0; r < part.rows; ++r) targets[r] += bytes;
  }
}

void Combination::add_part(const Part& part) const {
  std::vector<Symbol> own;
  const bool sum = is_sum(part);
  const Symbol* tables = sum ? nullptr : tables_for(part, own);
  auto targets = part.targets;
  for (std::size_t at = part.begin; at < part.end; at += kBlockBytes) {
    const std::size_t bytes = std::min(kBlockBytes, part.end - at);
    const std::byte* source = part.sources[0] + (at - part.begin);
    if (sum)
      exclusive_or_into(targets[0], source, bytes);
    else
      kernels_->add(bytes, part.rows, tables, source, targets.data());
    for (unsigned r = 0; r < part.rows; ++r) targets[r] += bytes;
  }
}

// Continues from the end of `part` to the end of the next source or target.
void Combination::next(Part& part, std::span<const base::ConstByteSpan> sources,
                       std::span<const base::ByteSpan> targets) {
  part.begin = part.end;
  part.rows = part.columns = 0;
  part.end = SIZE_MAX;
  for (unsigned r = 0; r < targets.size(); ++r) {
    if (targets[r].size() <= part.begin) continue;
    part.row[part.rows] = static_cast<unsigned char>(r);
    part.targets[part.rows++] = targets[r].data() + part.begin;
    part.end = std::min(part.end, targets[r].size());
  }
  for (unsigned c = 0; c < sources.size(); ++c) {
    if (sources[c].size() <= part.begin) continue;
    part.column[part.columns] = static_cast<unsigned char>(c);
    part.sources[part.columns++] = sources[c].data() + part.begin;
    part.end = std::min(part.end, sources[c].size());
  }
}

void Combination::apply(std::span<const base::ConstByteSpan> sources, std::span<const base::ByteSpan> targets) const {
  Part part;
  for (next(part, sources, targets); part.rows > 0; next(part, sources, targets)) apply_part(part);
}

void Combination::add(unsigned column, base::ConstByteSpan source, std::span<const base::ByteSpan> targets) const {
  Part part;
  const std::span one(&source, 1);
  for (next(part, one, targets); part.rows > 0 && part.columns > 0; next(part, one, targets)) {
    part.column[0] = static_cast<unsigned char>(column);
    add_part(part);
  }
}

}  // namespace perdure::redundancy
