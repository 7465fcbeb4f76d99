#include "engine/host/emulation.hpp"

#include <string_view>

#include "config/toml.hpp"
#include "os/file.hpp"
#include "placement/sampling.hpp"
#include "tier/emulated_tier.hpp"

namespace perdure::engine {
namespace {

constexpr unsigned kModelled = 256;

}  // namespace

std::unique_ptr<tier::Tier> Emulation::wrap(std::unique_ptr<tier::Tier> tier, std::size_t position) const {
  if (position >= tiers.size()) return tier;
  return tier::emulate(std::move(tier), tiers[position], node.tiers[position].capacity_bytes);
}

std::optional<placement::DeviceModel> Emulation::model(std::size_t position) const {
  if (position >= tiers.size()) return std::nullopt;
  std::vector<placement::Sample> samples;
  for (const unsigned writers : placement::counts_to_measure(kModelled))
    samples.push_back({writers, node.tiers[position].throughput.at(writers) / node.time_scale});
  auto fitted = placement::DeviceModel::fit(samples, kModelled);
  return fitted ? std::optional(std::move(*fitted)) : std::nullopt;
}

void Emulation::shut() const {
  store->shut();
  for (const auto& tier : tiers) tier->shut();
}

base::Result<std::optional<Emulation>> make_emulation(const config::Config& config) {
  const std::string path = config.text("emulate.description");
  if (path.empty()) return std::optional<Emulation>();
  PERDURE_TRY(const auto content, os::read_file(path, config::kMaxFileBytes));
  Emulation emulation;
  PERDURE_TRY(emulation.node,
              device::parse_description({reinterpret_cast<const char*>(content.data()), content.size()}, path));
  const auto seed = static_cast<std::uint64_t>(config.integer("emulate.seed"));
  emulation.store = std::make_shared<device::Emulator>(emulation.node.store, emulation.node.time_scale, seed);
  for (const auto& tier : emulation.node.tiers)
    emulation.tiers.push_back(std::make_shared<device::Emulator>(tier, emulation.node.time_scale,
                                                                 seed + 1000 * (emulation.tiers.size() + 1)));
  const auto nodes = static_cast<double>(config.integer("emulate.nodes"));
  emulation.store->limit(device::share_of_store(emulation.node, nodes));
  return std::optional(std::move(emulation));
}

}  // namespace perdure::engine
