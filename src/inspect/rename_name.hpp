#pragma once
// Gives all versions of a checkpoint another name in its store. Every segment has the name in its header and manifest,
// so each is written anew.
#include <functional>
#include <string>
#include <vector>

#include "inspect/rename_source.hpp"
#include "store/store.hpp"

namespace perdure::inspect {

struct RenamePlan {
  std::string old_name, new_name;
  RenameSource source = RenameSource::old_name;
  std::string directory;                        ///< the name of the directory that has the segments now
  std::vector<store::VersionListing> versions;  ///< versions there, the one begun last first
  std::uint64_t segments = 0, bytes = 0;
};

/// Told of bytes as they are read.
using RenameAdvance = std::function<void(std::uint64_t)>;

/// Plans a rename, and changes nothing. The errors are those of choose_rename_source(), and these. PERDURE_INCOMPLETE,
/// PERDURE_CORRUPT: a version is not complete. PERDURE_BUSY: a job that was killed has not stored all of a version.
base::Result<RenamePlan> plan_rename(store::Store& store, const std::string& old_name, const std::string& new_name);

/// Reads every byte that is to be renamed. PERDURE_CORRUPT: some of it is damaged.
base::Status check_sound(store::Store& store, const RenamePlan& plan, const RenameAdvance& advance);

/// Publishes all segments under the new name, reads them back, and only then gives the old ones up. After a kill,
/// repeat it: until the last step everything is there under the old name, or in the directory that was put aside.
base::Status rename_stored(store::Store& store, const RenamePlan& plan, const RenameAdvance& advance);

}  // namespace perdure::inspect
