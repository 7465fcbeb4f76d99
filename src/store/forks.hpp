#pragma once
// Where branches of a name go on from other ones (plan/lineage.hpp), for stores that have a directory for each name:
// the file `.forks` there. (docs/format/branches.md)
#include <string>
#include <vector>

#include "os/directory.hpp"
#include "plan/lineage.hpp"

namespace perdure::store {

/// The record as the content of a file, and back. PERDURE_CORRUPT names `object`.
std::string encode(const std::vector<plan::Fork>& forks);
base::Result<std::vector<plan::Fork>> decode_forks(const std::string& content, const std::string& object);

/// PERDURE_UNSUPPORTED about `object`: they are more than a record holds.
base::Status check_number(const std::vector<plan::Fork>& forks, const std::string& object);

/// See Records::forks. None where the file is not there.
base::Result<std::vector<plan::Fork>> read_forks(const os::Directory& directory);
base::Status write_forks(const os::Directory& directory, const std::vector<plan::Fork>& forks);

}  // namespace perdure::store
