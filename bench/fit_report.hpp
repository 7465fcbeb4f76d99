#pragma once
// Reports fits as JSON objects and as a line for readers; without a fit, reports the reason.
#include <nlohmann/json.hpp>

#include "composition.hpp"
#include "fit.hpp"

namespace perdure::bench {

enum class Model {
  time,       ///< t(n) = latency + n / bandwidth
  throughput  ///< B(n) = n / (t_overhead + n / B_max)
};
/// Calls fit_time() or fit_throughput().
Fitted<Fit> fit(Model model, const std::vector<Sample>& samples, double mtu_bytes = 0);

nlohmann::ordered_json to_json(Model model, const Fitted<Fit>& fit);
nlohmann::ordered_json to_json(Composition composition, const Fitted<WholeFit>& fit);

/// Formats the result of to_json(): "FORMULA: PARAMETERS; residuals: mean 1.0 %, worst 2.0 %", or "FORMULA: not fitted:
/// REASON".
std::string fit_text(const nlohmann::ordered_json& fit);

}  // namespace perdure::bench
