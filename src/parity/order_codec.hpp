#pragma once
// Private: orders, the one large frame. Its blocks name memory by its number in a table, as many have the same.
#include "parity/fields.hpp"

namespace perdure::parity {

void put_order(ByteWriter& out, const Order& order);
/// `good` becomes false when it is none.
Order get_order(ByteReader& in, bool& good);

/// Why the order makes no sense, whoever sent it: limits, and blocks that are not within their memory.
base::Status check_order(const Order& order);

}  // namespace perdure::parity
