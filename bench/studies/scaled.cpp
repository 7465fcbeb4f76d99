#include "scaled.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace perdure::studies {
namespace {

double divided(double value, double factor) {
  return value >= device::Node::kUnlimited ? value : std::max(std::round(value / factor), 1.0);
}

std::uint64_t divided(std::uint64_t bytes, double factor) {
  return bytes == 0 ? 0 : static_cast<std::uint64_t>(divided(static_cast<double>(bytes), factor));
}

device::Curve divided(const device::Curve& curve, double factor) {
  std::vector<device::Point> points = curve.points();
  for (device::Point& point : points) point.value = divided(point.value, factor);
  return device::Curve::through(std::move(points), "scaled").value_or(curve);  // scaling keeps a curve valid
}

void divide(device::Device& device, double factor) {
  device.throughput = divided(device.throughput, factor);
  device.capacity_bytes = divided(device.capacity_bytes, factor);
}

std::string points_text(const device::Curve& curve, const char* counts_key, const char* values_key) {
  std::string counts, values;
  for (const device::Point& point : curve.points()) {
    const char* comma = counts.empty() ? "" : ", ";
    counts += fmt::format("{}{}", comma, point.count);
    values += fmt::format("{}\"{:.0f}\"", comma, point.value);
  }
  return fmt::format("{} = [{}]\n{} = [{}]\n", counts_key, counts, values_key, values);
}

std::string device_text(const device::Device& device, const std::string& table) {
  std::string text = fmt::format("[{}]\n", table) + points_text(device.throughput, "streams", "bytes_per_s");
  text += fmt::format("latency_s = {}\ncapacity = \"{}\"\n", device.latency_s, device.capacity_bytes);
  return text + fmt::format("variability = {}\nvariability_period_s = {}\n", device.variability.amplitude,
                            device.variability.period_s);
}

}  // namespace

simulate::Scenario scaled(const simulate::Scenario& scenario, double factor) {
  simulate::Scenario small = scenario;
  small.chunk_bytes = divided(scenario.chunk_bytes, factor);
  for (device::Device& tier : small.node.tiers) divide(tier, factor);
  divide(small.node.store, factor);
  small.node.store_shared = divided(scenario.node.store_shared, factor);
  return small;
}

std::string description_of(const device::Node& node) {
  std::string tiers, tables;
  for (const device::Device& tier : node.tiers) {
    tiers += fmt::format("{}\"{}\"", tiers.empty() ? "" : ", ", tier.name);
    tables += device_text(tier, "tier." + tier.name);
  }
  tables += device_text(node.store, "store");
  const auto& shared = node.store_shared.points();
  if (shared.front().value < device::Node::kUnlimited)
    tables += points_text(node.store_shared, "nodes", "total_bytes_per_s");
  return fmt::format("time_scale = {}\ntiers = [{}]\n", node.time_scale, tiers) + tables;
}

}  // namespace perdure::studies
