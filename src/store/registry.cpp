// The stores there are. A new one is a source file and a line here.
#include "os/file.hpp"
#include "store/posix.hpp"

namespace perdure::store {

base::Result<std::unique_ptr<Store>> make_store(const std::string& location) {
  constexpr std::string_view kFile = "file://";
  std::string path = location;
  if (path.starts_with(kFile)) path.erase(0, kFile.size());
  if (path.empty())
    return base::fail(PERDURE_INVALID_ARGUMENT, "store", "its location is empty", "set store.path to a directory");
  if (const std::size_t scheme = path.find("://"); scheme != std::string::npos)
    return base::fail(PERDURE_INVALID_ARGUMENT, location, "unknown kind of store '" + path.substr(0, scheme) + "'",
                      "known are directories: a path, or file://PATH");
  if (path.find('\0') != std::string::npos)
    return base::fail(PERDURE_INVALID_ARGUMENT, "store", "its location contains a zero byte");
  PERDURE_TRY(std::string absolute, os::absolute_path(path));
  return std::make_unique<PosixStore>(std::move(absolute));
}

}  // namespace perdure::store
