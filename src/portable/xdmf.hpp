#pragma once
// XDMF describes arrays in an HDF5 file for ParaView and VisIt. Text in, text out; pure.
#include "portable/target.hpp"

namespace perdure::portable {

/// Describes the arrays of integers and reals in two or three dimensions, each a field on a regular grid; empty without
/// any. `file` is the HDF5 file's name without directories.
std::string xdmf(const std::vector<DataSet>& sets, const std::string& file, const Facts& about);

}  // namespace perdure::portable
