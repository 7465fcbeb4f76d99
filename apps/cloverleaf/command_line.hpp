#pragma once
// What users type.
#include <cstdint>
#include <optional>
#include <string>

#include "checkpointing.hpp"
#include "mesh/mesh.hpp"

namespace clover {

struct CommandLine {
  std::string deck;
  perdure::mesh::Options mesh;
  std::int64_t steps = 0;  ///< 0: as the deck says
};

/// Or the exit status, after what there is to say was said, where `speaks`.
struct Parsed {
  std::optional<CommandLine> line;
  int status = 0;
};
Parsed parse(const char* program, int argc, char** argv, bool speaks, Checkpointing& checkpointing);

}  // namespace clover
