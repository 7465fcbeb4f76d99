#pragma once
// Writes data sets of a mesh as HDF5 files for other programs, and fills data sets from such files. It is a library of
// its own, perdure_mesh_hdf5. The serial HDF5 suffices, because one process writes each file.
//
// Form::whole: rank 0 writes the file, and the others send it their elements, `portion_bytes` at a time. So rank 0
// holds at most one portion besides its own data sets, for any number of ranks. But all bytes pass through one node.
// For example, 4,096 ranks with 64 MiB each send 32,768 messages of 8 MiB. These 275 GB take 275 s at 1 GB/s, the rate
// of one writer. Form::per_process has no such bottleneck: it writes 4,096 files of 64 MiB at once.
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "mesh/mesh.hpp"

namespace perdure::mesh {

enum class Form {
  whole,        ///< one file for all ranks
  per_process,  ///< one file per rank, see path_of_rank()
};

struct Hdf5Options {
  Form form = Form::whole;
  bool halo = false;                                  ///< include the halo around the whole
  std::optional<Box> slab;                            ///< only this box of each data set; it may reach into the halo
  std::size_t portion_bytes = std::size_t{8} << 20U;  ///< limit of other ranks' elements that rank 0 holds at a time
};

/// Returns the file's path for a rank: "fields.h5" becomes "fields.0003.h5" for rank 3.
std::string path_of_rank(const std::string& path, int rank);

/// Writes each data set of `sets` under its name; the last dimension in the file is x. Elements are integers or reals.
/// A data set has the attributes `block`, `unit`, `description`, `first_index` (of element [0, 0, 0]) and
/// `extents` (of the mesh's data set without its halo). Files of single ranks add `begin` and `end` of their part, and
/// `ranks` and `rank` of the file. These attributes are x first. A file gets its name only once it is durable on the
/// device; it then replaces an older file of that name. The call is a look (Mesh::look): while loops are skipped it
/// writes nothing and returns false. [collective] Throws std::runtime_error on all ranks, with the same text.
bool write_hdf5(Mesh& mesh, const std::string& path, std::span<const Dataset* const> sets,
                const Hdf5Options& options = {});
inline bool write_hdf5(Mesh& mesh, const std::string& path, std::initializer_list<const Dataset*> sets,
                       const Hdf5Options& options = {}) {
  return write_hdf5(mesh, path, std::span(sets.begin(), sets.size()), options);
}

/// Fills the data set, or the slab of it, from a file that any number of ranks or another program wrote. Without the
/// attribute `first_index`, the file's data set must have exactly the extents that are read. Every rank reads for
/// itself. A rank reads per-rank files from its own number on, until it has all elements. Call it
/// only before protect(), which would not know of the change. [collective] Throws std::runtime_error on all ranks, with
/// the same text: the file cannot be read, lacks the data set, or has other elements. A read error part way leaves the
/// data set partly filled.
void read_hdf5(Mesh& mesh, const std::string& path, Dataset& set, const Hdf5Options& options = {});

}  // namespace perdure::mesh
