// This replaces the HDF5 code if Perdure was built without HDF5's headers.
#ifndef PERDURE_HAVE_HDF5
#include "portable/import_version.hpp"

namespace perdure::portable {

namespace {

tl::unexpected<base::Error> without(const std::string& path) {
  return base::fail(PERDURE_UNSUPPORTED, path, "this Perdure was built without HDF5",
                    "install libhdf5-dev and build it again, or export to DIRECTORY.zarr");
}

}  // namespace

base::Result<std::unique_ptr<Target>> make_hdf5(const std::string& path, const Facts& /*about*/) {
  return without(path);
}
base::Result<Imported> import_hdf5(const std::string& path, store::Store& /*store*/, const std::string& /*name*/,
                                   std::uint64_t /*version*/, const Advance& /*advance*/,
                                   const ReadLimits& /*limits*/) {
  return without(path);
}
base::Result<std::uint64_t> hdf5_bytes(const std::string& path) { return without(path); }

}  // namespace perdure::portable
#endif
