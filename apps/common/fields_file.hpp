#pragma once
// The fields that a program on a mesh ends with, as an HDF5 file.
#include <CLI/CLI.hpp>
#include <span>
#include <string>

#include "mesh/mesh.hpp"

class FieldsFile {
 public:
  /// --fields FILE.h5
  void add_options(CLI::App& app);
  /// Before a run of hours, whether it could be written; throws WrongInput where not. [collective]
  void begin(perdure::mesh::Mesh& mesh) const;
  bool wanted() const { return !path_.empty(); }
  /// Where the loops before it were skipped, as the run before had come farther, it is there already. [collective]
  void write(perdure::mesh::Mesh& mesh, std::span<const perdure::mesh::Dataset* const> fields) const;

 private:
  std::string path_;
};
