#pragma once
// Brings an HDF5 file into a store as a version: an exported one, or any file of arrays.
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

/// Writes one segment: rank 0 has the arrays, each rank the file's data for it in ranks/N. It is published whole and
/// synced, or not at all, and read back and verified. PERDURE_EXISTS: some of this version exists, complete or not.
/// PERDURE_UNSUPPORTED: some of the file cannot be a region. PERDURE_CORRUPT: reading it crashed, or had no end.
/// `advance` gets each byte twice.
base::Result<Imported> import_hdf5(const std::string& path, store::Store& store, const std::string& name,
                                   std::uint64_t version, const Advance& advance, const ReadLimits& limits = {});
/// Gives the number of bytes that will be.
base::Result<std::uint64_t> hdf5_bytes(const std::string& path);

}  // namespace perdure::portable
