#pragma once
// Describes emulated devices, and a node made of them. Plain data: emulated tiers, stores and the simulator use the
// same. Files are in share/devices/; docs/emulated-devices.md explains them.
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
  Variability variability;           ///< the run's seed is mixed into its seed
};

struct Node {
  std::string name;
  double time_scale = 1;                             ///< the emulation takes so many seconds per described second; > 0
  std::vector<Device> tiers;                         ///< fastest first
  Device store;                                      ///< as one node alone sees it
  Curve store_shared = Curve::constant(kUnlimited);  ///< aggregate of all nodes, bytes/s, over nodes using it at once
  static constexpr double kUnlimited = 1e18;
};

/// Returns the most of the store that one of `nodes` nodes gets, bytes/s.
double share_of_store(const Node& node, double nodes);

/// Parses the TOML of a description. PERDURE_INVALID_ARGUMENT about `path` and the key; unknown keys are refused.
base::Result<Node> parse_description(std::string_view toml, const std::string& path);

}  // namespace perdure::device
