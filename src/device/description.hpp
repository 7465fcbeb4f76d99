#pragma once
// Descriptions of emulated devices, and of a node made of them. Plain data; the emulated tiers and stores and the
// simulator use the same. Files in share/devices/; docs/emulated-devices.md explains them.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "device/curve.hpp"
#include "device/variability.hpp"

namespace perdure::device {

struct Device {
  std::string name;
  Curve throughput =
      Curve::constant(1e9);          ///< aggregate of the node, bytes/s, over concurrent streams (reads and writes)
  double latency_s = 0;              ///< before the first byte of every stream
  std::uint64_t capacity_bytes = 0;  ///< 0: without limit
  Variability variability;           ///< its seed is mixed with that of the run
};

struct Node {
  std::string name;
  double time_scale = 1;                             ///< emulation takes this many seconds per second described; > 0
  std::vector<Device> tiers;                         ///< fastest first
  Device store;                                      ///< as one node alone sees it
  Curve store_shared = Curve::constant(kUnlimited);  ///< aggregate of all nodes, bytes/s, over nodes using it at once
  static constexpr double kUnlimited = 1e18;
};

/// The most that one of `nodes` nodes gets of the store, bytes/s.
double share_of_store(const Node& node, double nodes);

/// From the TOML of a description. Errors: PERDURE_INVALID_ARGUMENT about `path` and the key; an unknown key is one.
base::Result<Node> parse_description(std::string_view toml, const std::string& path);

}  // namespace perdure::device
