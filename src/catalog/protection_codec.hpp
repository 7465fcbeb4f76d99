#pragma once
// Records of redundancy as CBOR maps (docs/format/catalog.md).
#include "base/cbor.hpp"
#include "catalog/protection.hpp"

namespace perdure::catalog {

base::Json to_json(const ProtectionId& id);
base::Json to_json(const ProtectRecord& record);
base::Json to_json(const ReachedRecord& record);
base::Json to_json(const BadBlockRecord& record);
base::Json to_json(const UnprotectRecord& record);

/// Every field is checked for presence, type and range; PERDURE_CORRUPT about `object` otherwise.
base::Result<ProtectionId> protection_id_from_json(const base::Json& json, const std::string& object);
base::Result<ProtectRecord> protect_from_json(const base::Json& json, const std::string& object);
base::Result<BadBlockRecord> bad_block_from_json(const base::Json& json, const std::string& object);

/// The pieces of a group's positions, as in ProtectRecord and in what engines tell each other.
base::Json members_to_json(const std::vector<std::vector<segment::Piece>>& members);
base::Result<std::vector<std::vector<segment::Piece>>> members_from_json(const base::Json& json, std::uint32_t ranks,
                                                                         const std::string& object);

}  // namespace perdure::catalog
