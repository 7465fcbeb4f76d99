#pragma once
// Encodes records of the log as CBOR.
#include <vector>

#include "base/bytes.hpp"
#include "catalog/state.hpp"

namespace perdure::catalog {

/// Encodes the nodes of a StageRecord, 8 bytes each, little-endian. In an array each node would count towards a
/// record's limit of items.
std::vector<std::byte> bytes_of_nodes(const std::vector<std::uint64_t>& nodes);
/// Returns the bytes of base::encode_cbor(to_json(record)). It writes the records of every checkpoint without a tree,
/// because ranks wait for the catalog.
std::vector<std::byte> encode_payload(const Record& record);

}  // namespace perdure::catalog
