#pragma once
// Compares the models of D5.4, 4.1.2, with cpex measurements. Pure.
#include <map>

#include "exchange.hpp"
#include "results.hpp"

namespace perdure::micro {

/// A mode, and its chunk size or 0.
struct Variant {
  ExchangeMode mode = ExchangeMode::sequential;
  std::uint64_t chunk_bytes = 0;
  auto operator<=>(const Variant&) const = default;
};

using ExchangeSeries = std::map<Variant, Series>;

/// Adds the overhead of each variant beyond the operations of mode `sequential` (otherwise `partner`), which were
/// measured one after the other. Adds nothing if neither was measured.
void compose(const ExchangeSeries& all, Results& results);

}  // namespace perdure::micro
