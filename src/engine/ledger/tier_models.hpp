#pragma once
// Loads the throughput models that an engine starts with: each tier's stored calibration, if it is valid and holds for
// this node (docs/calibration.md). A bad model never keeps an engine from starting.
#include <cstdint>
#include <optional>
#include <string>

#include "engine/ledger/reports.hpp"
#include "placement/device_model.hpp"

namespace perdure::engine {

struct ModelSource {
  enum class Kind { assumed, calibrated, emulated } kind = Kind::assumed;
  std::uint64_t created_ns = 0;  ///< calibrated: ns since 1970
  std::string file = {};         ///< calibrated: its path; assumed: the path where it would be
  std::string why = {};          ///< assumed: the reason
};
const char* source_name(ModelSource::Kind kind);

struct TierModel {
  std::optional<placement::DeviceModel> model;  ///< nullopt: to be assumed
  ModelSource source = {};
};

/// Reads the calibration of `tier`, whose slots are at `slots`, from `directory`. One that cannot be used is reported.
/// A missing one is only noted in the log, since most machines have none.
TierModel stored_model(const base::Result<std::string>& directory, const std::string& tier, const std::string& slots,
                       Reports& reports);

}  // namespace perdure::engine
