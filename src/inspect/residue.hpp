#pragma once
// Finds files in a store other than its segments: the notes of verify, the leftovers of prune, the quarantine of ls.
#include <optional>
#include <string>
#include <vector>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "segment/segment.hpp"
#include "store/store.hpp"

namespace perdure::inspect {

struct Residue : store::Residue {
  base::Json report;              ///< quarantined: the fields of its report that we know, or null
  std::string ranks = "unknown";  ///< misplaced: ranks whose data it holds
};

const char* kind_name(Residue::Kind kind);

base::Result<std::vector<Residue>> find_residue(store::Store& store);
/// Finds only quarantined ones.
base::Result<std::vector<Residue>> find_quarantined(store::Store& store);

/// Gives all ranks that a segment file holds, "3" or "0-3", from its header or else its manifest; nothing when neither
/// can be read.
std::optional<std::string> ranks_of(const segment::ByteSource& source);
std::optional<std::string> ranks_of_file(const std::string& path);

}  // namespace perdure::inspect
