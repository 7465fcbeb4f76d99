#pragma once
// Records of the log as CBOR.
#include <vector>

#include "base/bytes.hpp"
#include "catalog/state.hpp"

namespace perdure::catalog {

/// The nodes of a StageRecord, 8 bytes each, little-endian: as an array each would be one more of the items that a
/// record may have.
std::vector<std::byte> bytes_of_nodes(const std::vector<std::uint64_t>& nodes);
/// The same bytes as base::encode_cbor(to_json(record)). Those of each checkpoint are written without a tree of them,
/// which ranks that wait for the catalog would wait for.
std::vector<std::byte> encode_payload(const Record& record);

}  // namespace perdure::catalog
