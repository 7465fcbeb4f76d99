#pragma once
// The small records beside a name's versions, in stores that have a directory for each name. Several launches may write
// them at once.
#include <string>

#include "base/result.hpp"
#include "os/directory.hpp"

namespace perdure::store {

inline constexpr const char* kOwnerRecord = ".owner";              ///< owner.hpp
inline constexpr const char* kRunnerRecord = ".runner";            ///< owner.hpp
inline constexpr const char* kIncarnationRecord = ".incarnation";  ///< incarnation.hpp
inline constexpr const char* kHaltRecord = ".halt";                ///< halt_record.hpp
inline constexpr const char* kForksRecord = ".forks";              ///< forks.hpp

/// Held, as long as the file lives, while a record in a name's directory is read, compared and written with
/// os::Directory::write_file_atomically: all of that is short, whoever does it. Removes what killed writers of records
/// left. PERDURE_BUSY after half a second of others. Where files cannot be locked, somebody who does so in the same
/// millisecond is missed.
base::Result<os::File> lock_records(const os::Directory& directory);

/// A record, the lock, or a record being written.
bool is_name_record(const std::string& file);

}  // namespace perdure::store
