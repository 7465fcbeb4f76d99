#pragma once
// Holds the emulated devices of one engine, for its tiers and its store, as option emulate.description says.
#include <memory>
#include <optional>
#include <vector>

#include "config/config.hpp"
#include "device/emulator.hpp"
#include "placement/device_model.hpp"
#include "store/store.hpp"
#include "tier/tier.hpp"

namespace perdure::engine {

struct Emulation {
  device::Node node;
  std::shared_ptr<device::Emulator> store;
  std::vector<std::shared_ptr<device::Emulator>> tiers;  ///< by position in tier.order

  /// Wraps `tier`, which is at `position` in tier.order. Returns it unchanged if the description has fewer tiers.
  std::unique_ptr<tier::Tier> wrap(std::unique_ptr<tier::Tier> tier, std::size_t position) const;
  /// Returns what a calibration of the tier there would find; nullopt if none is described.
  std::optional<placement::DeviceModel> model(std::size_t position) const;
  /// Ends all waiting for emulated devices.
  void shut() const;
};

/// Returns nullopt if the option is empty. Fails if the file cannot be read, or is no description.
base::Result<std::optional<Emulation>> make_emulation(const config::Config& config);

}  // namespace perdure::engine
