#pragma once
// Provides the paper's node, and drivers that take no time, for tests.
#include <fstream>
#include <sstream>

#include "study.hpp"

namespace perdure::studies {

inline Context veloc_node(Driver& driver) {
  const std::string path = std::string(PERDURE_DEVICES) + "/veloc-node.toml";
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  Context context;
  context.node = device::parse_description(text.str(), path).value();
  context.driver = &driver;
  context.repetitions = 2;
  context.max_cells = 1;
  context.oracle = false;
  return context;
}

}  // namespace perdure::studies
