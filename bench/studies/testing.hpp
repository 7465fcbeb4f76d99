#pragma once
// For tests: the paper's node, and drivers that need no time.
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

/// A device without latency and variability.
inline device::Device plain(std::string name, double bytes_per_s, std::uint64_t capacity_bytes = 0) {
  device::Device device;
  device.name = std::move(name);
  device.throughput = device::Curve::constant(bytes_per_s);
  device.capacity_bytes = capacity_bytes;
  return device;
}

}  // namespace perdure::studies
