#pragma once
// Encodes kind and attributes of a capture's entry as CBOR (docs/format/segment.md, entries of format 2).
#include "base/cbor.hpp"
#include "segment/manifest.hpp"

namespace perdure::segment {

base::Json to_json(const Attributes& attributes);

/// `where` names the entry in errors. PERDURE_UNSUPPORTED for a kind that this release does not know, PERDURE_CORRUPT
/// for kinds that no release writes.
base::Result<EntryKind> entry_kind_from_json(const base::Json& json, const std::string& where,
                                             const std::string& object);
base::Result<Attributes> attributes_from_json(const base::Json& json, const std::string& where,
                                              const std::string& object);

/// Fails with PERDURE_INVALID_ARGUMENT about the entry for attributes that no reader would accept. Any program can be a
/// source, so the writer enforces the reader's limits.
base::Status check_attributes(const RegionEntry& entry);

}  // namespace perdure::segment
