#pragma once
// The emulated devices of one engine, for its tiers and its store, as option emulate.description says.
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

  /// `tier`, which stands there in tier.order; as it is when the description has fewer.
  std::unique_ptr<tier::Tier> wrap(std::unique_ptr<tier::Tier> tier, std::size_t position) const;
  /// What a calibration of the tier there would find; nothing where none is described.
  std::optional<placement::DeviceModel> model(std::size_t position) const;
  /// Ends all waiting for emulated devices.
  void shut() const;
};

/// Nothing when the option is empty. Errors: the file cannot be read, or is no description.
base::Result<std::optional<Emulation>> make_emulation(const config::Config& config);

}  // namespace perdure::engine
