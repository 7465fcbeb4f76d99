#pragma once
// Forks say where branches of a name begin on other ones (plan/lineage.hpp). For stores that have a directory for each
// name, they are the file `.forks` there. (docs/format/branches.md)
#include <string>
#include <vector>

#include "os/directory.hpp"
#include "plan/lineage.hpp"

namespace perdure::store {

/// Encode the record as the content of a file, and decode it. PERDURE_CORRUPT names `object`.
std::string encode(const std::vector<plan::Fork>& forks);
base::Result<std::vector<plan::Fork>> decode_forks(const std::string& content, const std::string& object);

/// PERDURE_UNSUPPORTED about `object`: they are more than a record holds.
base::Status check_number(const std::vector<plan::Fork>& forks, const std::string& object);

/// See Records::forks. Empty if the file is not there.
base::Result<std::vector<plan::Fork>> read_forks(const os::Directory& directory);
base::Status write_forks(const os::Directory& directory, const std::vector<plan::Fork>& forks);

}  // namespace perdure::store
