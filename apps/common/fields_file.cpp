#include "fields_file.hpp"

#include <unistd.h>

#include "mesh_program.hpp"
#ifdef PERDURE_HAVE_HDF5
#include "mesh/hdf5.hpp"
#endif

namespace {

#ifdef PERDURE_HAVE_HDF5
constexpr bool kHaveHdf5 = true;
#else
constexpr bool kHaveHdf5 = false;
#endif

std::string directory_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  return slash == std::string::npos ? "." : path.substr(0, slash == 0 ? 1 : slash);
}

}  // namespace

void FieldsFile::add_options(CLI::App& app) {
  app.add_option("--fields", path_, "HDF5 file of the fields at the end: of all ranks, without their halos");
}

void FieldsFile::begin(perdure::mesh::Mesh& mesh) const {
  if (!wanted()) return;
  if (!kHaveHdf5)
    throw WrongInput("--fields: this program was built without HDF5: install libhdf5-dev and build it again");
  // Rank 0 writes the file; other ranks need not have that directory.
  double good = mesh.ranks().rank() != 0 || ::access(directory_of(path_).c_str(), W_OK) == 0 ? 1 : 0;
  mesh.ranks().combine(std::span(&good, 1), perdure::mesh::Ranks::Combine::least);
  if (good == 0) throw WrongInput("--fields: '" + directory_of(path_) + "' is no directory that can be written to");
}

void FieldsFile::write([[maybe_unused]] perdure::mesh::Mesh& mesh,
                       [[maybe_unused]] std::span<const perdure::mesh::Dataset* const> fields) const {
#ifdef PERDURE_HAVE_HDF5
  perdure::mesh::write_hdf5(mesh, path_, fields);
#endif
}
