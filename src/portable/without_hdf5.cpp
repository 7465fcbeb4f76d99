// Where Perdure was built without HDF5's headers.
#ifndef PERDURE_HAVE_HDF5
#include "portable/target.hpp"

namespace perdure::portable {

base::Result<std::unique_ptr<Target>> make_hdf5(const std::string& path, const Facts& /*about*/) {
  return base::fail(PERDURE_UNSUPPORTED, path, "this Perdure was built without HDF5",
                    "install libhdf5-dev and build it again, or export to DIRECTORY.zarr");
}

}  // namespace perdure::portable
#endif
