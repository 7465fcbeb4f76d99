#pragma once
// What programs on a mesh that protects itself have in common: options, the line that protects, and what to say of it.
#include <CLI/CLI.hpp>
#include <string>

#include "mesh/protection.hpp"

class Checkpointing {
 public:
  /// --checkpoint-every, --checkpoint-loops, and how it is done (--checkpoint-before, -learns, -report, -name). Without
  /// the first two there are no checkpoints, and Perdure is not opened.
  void add_options(CLI::App& app, const std::string& name);
  /// From here on; between what every run does first and the time steps. Says where a restart goes on. [collective]
  void protect(perdure::mesh::Mesh& mesh);
  /// At the end, before anything is taken out of data sets: what was saved. Throws where a restart has not come to its
  /// place. [collective]
  void report() const;
  /// Waits until all is stored. When the mesh is gone, or at its end. [collective]
  void close();

 private:
  perdure::mesh::Policy policy_;
  perdure::Handle handle_;
  const perdure::mesh::Protection* protection_ = nullptr;
  bool speaks_ = false;
};
