#pragma once
// Chooses the directory of a store from which a name is renamed, by the directories' contents. Pure.
#include <set>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "segment/manifest.hpp"

namespace perdure::inspect {

/// A version and one attempt at it.
using StoredAttempt = std::pair<std::uint64_t, segment::Attempt>;

/// The content of a name's directory in a store.
struct NameContent {
  std::set<StoredAttempt> attempts;
  std::string said;  ///< the checkpoint that all of its segments say they are of; empty: none, or several
  /// The time until which it was forgotten (Store::forgotten); 0: never.
  std::uint64_t forgotten_ns = 0;
};

struct RenameContents {
  NameContent old_name, new_name;
  NameContent aside;  ///< content of store::aside_name() of the new name
};

enum class RenameSource {
  old_name,  ///< the directory has its own name
  new_name,  ///< somebody renamed the directory by hand: it is put aside first
  aside,     ///< an earlier rename put it aside, and was killed
};

/// Chooses the directory whose segments are copied. After a killed rename, its copies are used. PERDURE_NOT_FOUND:
/// nothing has the old name. PERDURE_EXISTS: the new name is taken. PERDURE_MISMATCH: the segments of the directory say
/// several names.
base::Result<RenameSource> choose_rename_source(const std::string& old_name, const std::string& new_name,
                                                const RenameContents& contents);

}  // namespace perdure::inspect
