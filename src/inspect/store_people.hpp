#pragma once
// Whose a store is, and who else can write in it. For stores that are directories.
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/store.hpp"

namespace perdure::inspect {

struct StorePeople {
  std::string user;            ///< whose the directory is
  bool ours = true;            ///< or the administrator's
  bool others_write = false;   ///< others may make something in it
  bool others_remove = false;  ///< they may also rename and remove what is not theirs
  std::vector<std::string>
      more;  ///< "checkpoint b belongs to user carol": of names that are neither ours nor that user's
};

/// PERDURE_NOT_FOUND where the directory is not there.
base::Result<StorePeople> store_people(const std::string& directory);

/// What whoever looks into the store should know, a line each; empty: all of it is his.
std::vector<std::string> told_of_people(store::Store& store);

}  // namespace perdure::inspect
