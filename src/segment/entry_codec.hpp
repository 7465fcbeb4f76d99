#pragma once
// What an entry of a capture says beyond its size, as CBOR (docs/format/segment.md, entries of format 2).
#include "base/cbor.hpp"
#include "segment/manifest.hpp"

namespace perdure::segment {

base::Json to_json(const Attributes& attributes);

/// `where` names the entry in what is read. PERDURE_UNSUPPORTED for a kind that this release does not know,
/// PERDURE_CORRUPT for what no release writes.
base::Result<EntryKind> entry_kind_from_json(const base::Json& json, const std::string& where,
                                             const std::string& object);
base::Result<Attributes> attributes_from_json(const base::Json& json, const std::string& where,
                                              const std::string& object);

/// PERDURE_INVALID_ARGUMENT about the entry for attributes that no reader would accept. Sources may come from anywhere:
/// what writes holds the limits of what reads.
base::Status check_attributes(const RegionEntry& entry);

}  // namespace perdure::segment
