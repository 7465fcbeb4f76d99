// Checks the device models by which engines on this machine predict their tiers' speed. Were the tiers calibrated, and
// does that hold here?
#include "calibration/storage.hpp"
#include "config/directories.hpp"
#include "inspect/check.hpp"
#include "inspect/table.hpp"

namespace perdure::inspect {
namespace {

Check check_model(const std::string& directory, const std::string& tier, const std::string& slots, bool needed) {
  const std::string name = "model of tier " + tier, path = calibration::model_path(directory, tier);
  const auto loaded = calibration::load_model(path, tier, slots);
  if (loaded) return {name, Verdict::ok, "calibrated " + date_text(loaded->created_ns, "%Y-%m-%d") + ": " + path, ""};
  const std::string remedy = "perdure calibrate --tier " + tier;
  if (loaded.error().code != PERDURE_NOT_FOUND)
    return {name, Verdict::warning, path + " cannot be used: " + loaded.error().cause, remedy};
  const std::string finding = "not calibrated: engines assume a speed until they have seen writes";
  if (needed) return {name, Verdict::warning, finding, remedy};
  return {name, Verdict::ok, finding + "; placement.policy needs none (" + remedy + " measures it)", ""};
}

}  // namespace

std::vector<Check> check_models(const config::Config& config) {
  if (!config.text("emulate.description").empty()) return {};
  const auto directory = config::model_root(config);
  if (!directory) return {{"models", Verdict::warning, directory.error().text(), directory.error().remedy}};
  const std::string policy = config.text("placement.policy");
  const bool needed = policy == "hybrid-opt" || policy == "adaptive";
  std::vector<Check> checks;
  for (const std::string& tier : config.list("tier.order"))
    checks.push_back(check_model(*directory, tier, config::tier_root(config, tier), needed));
  return checks;
}

}  // namespace perdure::inspect
