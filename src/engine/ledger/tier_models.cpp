#include "engine/ledger/tier_models.hpp"

#include "calibration/storage.hpp"

namespace perdure::engine {
namespace {

TierModel assumed(std::string file, std::string why) {
  return {std::nullopt, {ModelSource::Kind::assumed, 0, std::move(file), std::move(why)}};
}

}  // namespace

const char* source_name(ModelSource::Kind kind) {
  switch (kind) {
    case ModelSource::Kind::assumed:
      return "assumed";
    case ModelSource::Kind::calibrated:
      return "calibrated";
    case ModelSource::Kind::emulated:
      return "emulated";
  }
  return "unknown";
}

TierModel stored_model(const base::Result<std::string>& directory, const std::string& tier, const std::string& slots,
                       Reports& reports) {
  const std::string remedy = "perdure calibrate --tier " + tier;
  const std::string begin = "tier " + tier + ": its speed is assumed until writes were seen";
  if (!directory) {
    reports.note(begin + ": " + directory.error().text());
    return assumed({}, directory.error().cause);
  }
  const std::string path = calibration::model_path(*directory, tier);
  auto loaded = calibration::load_model(path, tier, slots);
  if (loaded) return {std::move(loaded->model), {ModelSource::Kind::calibrated, loaded->created_ns, path, {}}};
  const base::Error& error = loaded.error();
  if (error.code == PERDURE_NOT_FOUND) {
    reports.note(begin + ": it was not calibrated, there is no " + path + "; " + remedy);
    return assumed(path, "not calibrated");
  }
  reports.add(begin + ": " + path + " cannot be used: " + error.cause + "; calibrate here: " + remedy);
  return assumed(path, error.cause);
}

}  // namespace perdure::engine
