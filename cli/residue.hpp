#pragma once
// What lies in a store's directory besides its segments: the notes of verify, the leftovers of prune, the quarantine of
// ls.
#include <optional>
#include <string>
#include <vector>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "segment/segment.hpp"
#include "store/store.hpp"

namespace perdure::cli {

struct Residue {
  enum class Kind {
    temporary,   ///< a segment that was being written
    retired,     ///< the marker of a removal that was not finished
    foreign,     ///< nothing of ours
    misplaced,   ///< a segment under a name or in a place where none belongs: a defect
    quarantined  ///< set aside
  } kind = Kind::foreign;
  std::string path;  ///< absolute
  std::uint64_t bytes = 0;
  std::string name;  ///< of the checkpoint, where that is known
  std::uint64_t version = 0;
  segment::Attempt attempt;       ///< temporary, retired, misplaced
  base::Json report;              ///< quarantined: its report, or null
  std::string ranks = "unknown";  ///< misplaced: whose data it holds
};

const char* kind_name(Residue::Kind kind);

/// Empty for stores that are no directories.
base::Result<std::vector<Residue>> find_residue(const store::Store& store);

/// All ranks that a segment file holds, "3" or "0-3", from its header or else its manifest; nothing when neither can be
/// read.
std::optional<std::string> ranks_of(const segment::ByteSource& source);
std::optional<std::string> ranks_of_file(const std::string& path);

}  // namespace perdure::cli
