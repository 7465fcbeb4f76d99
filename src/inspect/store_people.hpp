#pragma once
// Tells who owns a store, and who else can write in it. It works for stores that are directories.
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/store.hpp"

namespace perdure::inspect {

struct StorePeople {
  std::string user;            ///< owner of the directory
  bool ours = true;            ///< the owner is this user or the administrator
  bool others_write = false;   ///< others may make files in it
  bool others_remove = false;  ///< they may also rename and remove files of others
  std::vector<std::string>
      more;  ///< "checkpoint b belongs to user carol": names that belong neither to us nor to that user
};

/// PERDURE_NOT_FOUND if the directory is not there.
base::Result<StorePeople> store_people(const std::string& directory);

/// Gives the facts that a reader of the store should know, a line each; empty: all of it is the reader's own.
std::vector<std::string> told_of_people(store::Store& store);

}  // namespace perdure::inspect
