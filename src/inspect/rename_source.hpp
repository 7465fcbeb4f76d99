#pragma once
// From which directory of a store a name is renamed, judged by what the directories hold. Pure.
#include <set>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "segment/manifest.hpp"

namespace perdure::inspect {

/// A version and one attempt at it.
using StoredAttempt = std::pair<std::uint64_t, segment::Attempt>;

/// What a store has in the directory of a name.
struct NameContent {
  std::set<StoredAttempt> attempts;
  std::string said;  ///< the checkpoint that all of its segments say they are of; empty: none, or several
  /// The time until which it was forgotten (Store::forgotten); 0: never.
  std::uint64_t forgotten_ns = 0;
};

struct RenameContents {
  NameContent old_name, new_name;
  NameContent aside;  ///< of store::aside_name() of the new name
};

enum class RenameSource {
  old_name,  ///< the directory has its own name
  new_name,  ///< somebody renamed the directory by hand: it is put aside first
  aside,     ///< an earlier rename put it aside, and was killed
};

/// The directory whose segments are copied. Of an earlier rename that was killed, what it copied is gone on with.
/// PERDURE_NOT_FOUND: there is nothing of the old name. PERDURE_EXISTS: the new name is taken. PERDURE_MISMATCH: the
/// segments of the directory say several names.
base::Result<RenameSource> choose_rename_source(const std::string& old_name, const std::string& new_name,
                                                const RenameContents& contents);

}  // namespace perdure::inspect
