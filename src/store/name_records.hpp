#pragma once
// Small records lie beside a name's versions, in stores that have a directory for each name. Several launches may write
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

/// Locks the records of a name's directory as long as the file lives. The holder reads, compares and writes a record
/// with os::Directory::write_file_atomically; all of that is short. Removes leftovers of killed writers of records.
/// PERDURE_BUSY: others held the lock for half a second. If files cannot be locked, another holder in the same
/// millisecond goes unnoticed.
base::Result<os::File> lock_records(const os::Directory& directory);

/// Tells whether it is a record, the lock, or a record being written.
bool is_name_record(const std::string& file);

}  // namespace perdure::store
