#pragma once
// Encodes redundancy records as CBOR maps (docs/format/catalog.md).
#include "base/cbor.hpp"
#include "catalog/redundancy_set.hpp"

namespace perdure::catalog {

base::Json to_json(const RedundancyId& id);
base::Json to_json(const RedundancyRecord& record);
base::Json to_json(const ReachedRecord& record);
base::Json to_json(const BadBlockRecord& record);
base::Json to_json(const DropRedundancyRecord& record);
base::Json to_json(const SupersededRecord& record);

/// Check every field for presence, type and range; PERDURE_CORRUPT about `object` otherwise.
base::Result<RedundancyId> redundancy_id_from_json(const base::Json& json, const std::string& object);
base::Result<RedundancyRecord> redundancy_from_json(const base::Json& json, const std::string& object);
base::Result<SupersededRecord> superseded_from_json(const base::Json& json, const std::string& object);
base::Result<BadBlockRecord> bad_block_from_json(const base::Json& json, const std::string& object);

/// Encodes the pieces of a group's positions, for RedundancyRecord and for messages between engines.
base::Json members_to_json(const std::vector<std::vector<segment::Piece>>& members);
base::Result<std::vector<std::vector<segment::Piece>>> members_from_json(const base::Json& json, std::uint32_t ranks,
                                                                         const std::string& object);

}  // namespace perdure::catalog
