#include "engine/emulation.hpp"

#include <string_view>

#include "config/toml.hpp"
#include "os/file.hpp"

namespace perdure::engine {

void Emulation::shut() const { store->shut(); }

base::Result<std::optional<Emulation>> make_emulation(const config::Config& config) {
  const std::string path = config.text("emulate.description");
  if (path.empty()) return std::optional<Emulation>();
  PERDURE_TRY(const auto content, os::read_file(path, config::kMaxFileBytes));
  Emulation emulation;
  PERDURE_TRY(emulation.node,
              device::parse_description({reinterpret_cast<const char*>(content.data()), content.size()}, path));
  const auto seed = static_cast<std::uint64_t>(config.integer("emulate.seed"));
  emulation.store = std::make_shared<device::Emulator>(emulation.node.store, emulation.node.time_scale, seed);
  const auto nodes = static_cast<double>(config.integer("emulate.nodes"));
  emulation.store->limit(device::share_of_store(emulation.node, nodes));
  return std::optional(std::move(emulation));
}

}  // namespace perdure::engine
