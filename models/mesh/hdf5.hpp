#pragma once
// Data sets of a mesh as HDF5 files that other programs read, and data sets filled from such files. A library of its
// own, perdure_mesh_hdf5: HDF5's serial one does, as each file has one process that writes it.
//
// Form::whole: rank 0 writes the file, and the others send it what they have, `portion_bytes` at a time. So no rank has
// more than one portion besides its data sets, however many there are; and all bytes go through one node. 4,096 ranks
// of which each has 64 MiB of a data set send it as 32,768 messages of 8 MiB: 275 GB, which take 275 s at the 1 GB/s
// that one process may write. Form::per_process has no such place: the same is 4,096 files of 64 MiB, written at once.
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "mesh/mesh.hpp"

namespace perdure::mesh {

enum class Form {
  whole,        ///< one file of all ranks
  per_process,  ///< a file of each, see path_of_rank()
};

struct Hdf5Options {
  Form form = Form::whole;
  bool halo = false;                                  ///< with the halo around the whole
  std::optional<Box> slab;                            ///< only this box of each data set; it may have some of the halo
  std::size_t portion_bytes = std::size_t{8} << 20U;  ///< of others' elements that rank 0 has at a time
};

/// "fields.h5" is "fields.0003.h5" of rank 3.
std::string path_of_rank(const std::string& path, int rank);

/// Each data set of `sets` by its name; its last dimension is x. Attributes: `block`, `unit`, `description`,
/// `first_index` (which element [0, 0, 0] is), `extents` (of the mesh's data set without its halo); where files have
/// parts of it `begin` and `end` of this part, and `ranks` and `rank` of the file. These are x first. Elements are
/// integers or reals. A file has its name when all of it is on the device; what was there before is replaced then.
/// It is a look (Mesh::look): false, and nothing is written, where loops are skipped.
/// [collective] Throws std::runtime_error: on all ranks, with the same text.
bool write_hdf5(Mesh& mesh, const std::string& path, std::span<const Dataset* const> sets,
                const Hdf5Options& options = {});
inline bool write_hdf5(Mesh& mesh, const std::string& path, std::initializer_list<const Dataset*> sets,
                       const Hdf5Options& options = {}) {
  return write_hdf5(mesh, path, std::span(sets.begin(), sets.size()), options);
}

/// Fills the data set, or the slab of it, from a file that was written by any number of ranks, or by another program:
/// without `first_index` it has just what is to be read. Every rank reads its own; of files of ranks it begins with
/// that of its number, and reads on until it has all. Only before protect(): what followed it would not know of this.
/// [collective] Throws std::runtime_error, on all ranks, with the same text: the file cannot be read, or has not that
/// data set, or other elements. What could not be read on leaves some of the data set filled.
void read_hdf5(Mesh& mesh, const std::string& path, Dataset& set, const Hdf5Options& options = {});

}  // namespace perdure::mesh
