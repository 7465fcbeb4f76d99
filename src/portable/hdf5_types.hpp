#pragma once
// Converts element types to those of HDF5, and back. Use it inside this module only.
#include "array/element_type.hpp"
#include "portable/hdf5_library.hpp"

namespace perdure::portable {

/// Converts to HDF5. Complex numbers are compounds of r and i, truth values enumerations of FALSE and TRUE, as h5py
/// reads them. Bytes of unknown type are opaque, single ones u1. Members have the offsets that they have in an element.
base::Result<Hdf5Id> to_hdf5(const Hdf5Library& library, const array::ElementType& type, const std::string& object);

/// Converts from HDF5. PERDURE_UNSUPPORTED: strings, references and other types that no element type can say. Byte
/// order does not matter: that of the result is little.
base::Result<array::ElementType> from_hdf5(const Hdf5Library& library, hid_t type, const std::string& object);

}  // namespace perdure::portable
