#include "portable/target.hpp"

#include <algorithm>

#include "os/file.hpp"
#include "os/system.hpp"

namespace perdure::portable {
namespace {

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() > end.size() && std::string_view(text).substr(text.size() - end.size()) == end;
}

}  // namespace

base::Result<Format> format_of(const std::string& path) {
  if (ends_with(path, ".h5") || ends_with(path, ".hdf5")) return Format::hdf5;
  if (ends_with(path, ".zarr")) return Format::zarr;
  return base::fail(PERDURE_INVALID_ARGUMENT, path, "its ending says no format",
                    "FILE.h5 is written as HDF5, DIRECTORY.zarr as Zarr");
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

std::string temporary_beside(const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  return parent_of(path) + "/." + name + ".tmp-" + std::to_string(os::process_id()) + "-" +
         std::to_string(os::random_u64() % 1'000'000);
}

base::Status check_free(const std::string& path, Format format, bool replace) {
  PERDURE_TRY(const bool there, os::exists(path));
  if (!there) return {};
  if (!replace)
    return base::fail(PERDURE_EXISTS, path, "it is there already", "choose another name, or replace it with --force");
  // Nobody means to lose a directory of other files, or a file where a directory is to be.
  const bool directory = os::list_directory(path).has_value();
  if (format == Format::hdf5 && directory) return base::fail(PERDURE_EXISTS, path, "it is a directory");
  if (format == Format::zarr && !os::exists(path + "/zarr.json").value_or(false))
    return base::fail(PERDURE_EXISTS, path, "it is there, and no Zarr group of format 3", "choose another name");
  return {};
}

}  // namespace perdure::portable
