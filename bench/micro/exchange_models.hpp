#pragma once
// The models of D5.4, 4.1.2, beside what cpex measured. Pure.
#include <map>

#include "exchange.hpp"
#include "results.hpp"

namespace perdure::micro {

/// A mode, and a chunk size where it has one (else 0).
struct Variant {
  ExchangeMode mode = ExchangeMode::sequential;
  std::uint64_t chunk_bytes = 0;
  auto operator<=>(const Variant&) const = default;
};

using ExchangeSeries = std::map<Variant, Series>;

/// Adds what each variant takes beyond the operations of mode `sequential` (else `partner`), which were measured one
/// after the other; nothing where neither was measured.
void compose(const ExchangeSeries& all, Results& results);

}  // namespace perdure::micro
