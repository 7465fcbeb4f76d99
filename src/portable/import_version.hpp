#pragma once
// Brings an HDF5 file into a store as a version: what export wrote, or any file of arrays.
#include "portable/export_version.hpp"

namespace perdure::portable {

/// Limits of the process that reads the file. A step is a set of the file, or 16 MiB of its elements.
struct ReadLimits {
  std::uint64_t memory_bytes = base::GiB;  ///< and twice the file's size
  std::uint64_t step_cpu_s = 60;
};

struct Imported {
  segment::VersionId id;
  std::uint64_t ranks = 0, arrays = 0, locals = 0, bytes = 0;
};

/// One segment: rank 0 has the arrays, each rank what the file has for it in ranks/N. It is published whole and synced,
/// or not at all, and read back and verified. PERDURE_EXISTS: there is some of this version, whole or not;
/// PERDURE_UNSUPPORTED: the file has what no region can be; PERDURE_CORRUPT: reading it crashed, or had no end.
/// `advance` gets each byte twice.
base::Result<Imported> import_hdf5(const std::string& path, store::Store& store, const std::string& name,
                                   std::uint64_t version, const Advance& advance, const ReadLimits& limits = {});
/// How many bytes that will be.
base::Result<std::uint64_t> hdf5_bytes(const std::string& path);

}  // namespace perdure::portable
