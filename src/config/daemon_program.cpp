#include "config/daemon_program.hpp"

#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "os/file.hpp"
#include "os/system.hpp"

namespace perdure::config {
namespace {

bool executable(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

}  // namespace

base::Result<std::string> find_daemon(const Config& config) {
  std::string set = config.text("engine.daemon_path");
  if (!set.empty()) {
    if (executable(set)) return os::absolute_path(set);
    return base::fail(PERDURE_NOT_FOUND, set, "there is no such program", "correct engine.daemon_path");
  }
  const std::string library = os::library_path(), directory = library.substr(0, library.rfind('/'));
  for (const char* place : {"/perdured", "/../bin/perdured", "/../../bin/perdured"})
    if (executable(directory + place)) return os::absolute_path(directory + place);
  const char* path = std::getenv("PATH");
  std::stringstream list(path == nullptr ? "" : path);
  for (std::string entry; std::getline(list, entry, ':');)  // an empty entry does not mean the working directory
    if (!entry.empty() && executable(entry + "/perdured")) return os::absolute_path(entry + "/perdured");
  return base::fail(PERDURE_NOT_FOUND, "perdured", "the program is neither beside the library nor on the PATH",
                    "install it or set engine.daemon_path");
}

}  // namespace perdure::config
