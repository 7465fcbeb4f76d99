#pragma once
// Writes the final fields of a mesh program to an HDF5 file.
#include <CLI/CLI.hpp>
#include <span>
#include <string>

#include "mesh/mesh.hpp"

class FieldsFile {
 public:
  /// --fields FILE.h5
  void add_options(CLI::App& app);
  /// Checks before a long run that the file can be written; throws WrongInput if not. [collective]
  void begin(perdure::mesh::Mesh& mesh) const;
  bool wanted() const { return !path_.empty(); }
  /// If the loops before were skipped, the earlier run has already written the file. [collective]
  void write(perdure::mesh::Mesh& mesh, std::span<const perdure::mesh::Dataset* const> fields) const;

 private:
  std::string path_;
};
