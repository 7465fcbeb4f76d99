#pragma once
// What an engine predicts its tiers' throughput with when it starts: the stored calibration of each, as far as it is
// good and holds here (docs/calibration.md). Nothing about a model keeps an engine from starting.
#include <cstdint>
#include <optional>
#include <string>

#include "engine/ledger/reports.hpp"
#include "placement/device_model.hpp"

namespace perdure::engine {

struct ModelSource {
  enum class Kind { assumed, calibrated, emulated } kind = Kind::assumed;
  std::uint64_t created_ns = 0;  ///< calibrated: since 1970
  std::string file = {};         ///< calibrated: where it was; assumed: where it would be
  std::string why = {};          ///< assumed: why
};
const char* source_name(ModelSource::Kind kind);

struct TierModel {
  std::optional<placement::DeviceModel> model;  ///< nothing: to be assumed
  ModelSource source = {};
};

/// The calibration of `tier`, whose slots are at `slots`, from `directory`. One that cannot be used is reported; one
/// that is not there is only noted in the log, since most machines are used without.
TierModel stored_model(const base::Result<std::string>& directory, const std::string& tier, const std::string& slots,
                       Reports& reports);

}  // namespace perdure::engine
