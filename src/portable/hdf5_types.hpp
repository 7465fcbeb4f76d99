#pragma once
// Element types as HDF5 has them, and back. Inside this module only.
#include "array/element_type.hpp"
#include "portable/hdf5_library.hpp"

namespace perdure::portable {

/// Complex numbers are compounds of r and i, truth values enumerations of FALSE and TRUE, as h5py reads them; bytes of
/// which nothing is known are opaque, single ones u1. Members lie where they lie in an element.
base::Result<Hdf5Id> to_hdf5(const Hdf5Library& library, const array::ElementType& type, const std::string& object);

/// PERDURE_UNSUPPORTED: strings, references and what else no element type says. Byte order does not matter: that of the
/// result is little.
base::Result<array::ElementType> from_hdf5(const Hdf5Library& library, hid_t type, const std::string& object);

}  // namespace perdure::portable
