#pragma once
// Carries out one order.
#include "parity/record.hpp"

namespace perdure::parity {

/// Reads the members' blocks into the record's parities, several stripes at once. The first error ends all of it.
base::Status encode_order(Reader& reader, const Order& order, Record& record, unsigned lanes);

}  // namespace perdure::parity
