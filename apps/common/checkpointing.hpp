#pragma once
// Provides the checkpoint code of programs on a mesh: options, the call that protects the mesh, and the report.
#include <CLI/CLI.hpp>
#include <string>

#include "mesh/protection.hpp"

class Checkpointing {
 public:
  /// Adds --checkpoint-every and --checkpoint-loops, and their details (--checkpoint-before, -learns, -report, -name).
  /// Without the first two the program makes no checkpoints and does not open Perdure.
  void add_options(CLI::App& app, const std::string& name);
  /// Protects the mesh from here on. Call it after the initialisation that every run repeats, before the time steps.
  /// Prints where a restart resumes. [collective]
  void protect(perdure::mesh::Mesh& mesh);
  /// Reports the checkpoints. Call it at the end, before results are taken out of data sets. Throws if a restart has
  /// not reached its place. [collective]
  void report() const;
  /// Waits until all checkpoints are stored. Call it after the mesh is destroyed, or at its end. [collective]
  void close();

 private:
  perdure::mesh::Policy policy_;
  perdure::Handle handle_;
  const perdure::mesh::Protection* protection_ = nullptr;
  bool speaks_ = false;
};
