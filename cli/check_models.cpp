// What engines on this machine predict their tiers' speed with: were the tiers calibrated, and does that hold here?
#include <sstream>

#include "calibration/storage.hpp"
#include "cli/check.hpp"
#include "cli/table.hpp"
#include "config/directories.hpp"

namespace perdure::cli {
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
  std::stringstream order(config.text("tier.order"));
  for (std::string tier; std::getline(order, tier, ',');) {
    std::erase(tier, ' ');
    const std::string slots = tier == "memory" ? config::memory_tier_root(config) : config::file_tier_root(config);
    if (!tier.empty()) checks.push_back(check_model(*directory, tier, slots, needed));
  }
  return checks;
}

}  // namespace perdure::cli
