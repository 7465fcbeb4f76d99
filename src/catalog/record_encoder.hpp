#pragma once
// Records of the log as CBOR.
#include <vector>

#include "base/bytes.hpp"
#include "catalog/state.hpp"

namespace perdure::catalog {

/// The same bytes as base::encode_cbor(to_json(record)). Those of each checkpoint are written without a tree of them,
/// which ranks that wait for the catalog would wait for.
std::vector<std::byte> encode_payload(const Record& record);

}  // namespace perdure::catalog
