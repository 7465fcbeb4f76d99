#pragma once
// What users type.
#include <cstdint>
#include <optional>
#include <string>

#include "mesh/protection.hpp"

namespace clover {

struct CommandLine {
  std::string deck;
  perdure::mesh::Options mesh;
  std::int64_t steps = 0;  ///< 0: as the deck says
  perdure::mesh::Policy checkpoints;
  bool protects() const { return checkpoints.every_s > 0 || checkpoints.every_loops > 0; }
};

/// Or the exit status, after what there is to say was said, where `speaks`.
struct Parsed {
  std::optional<CommandLine> line;
  int status = 0;
};
Parsed parse(const char* program, int argc, char** argv, bool speaks);

}  // namespace clover
