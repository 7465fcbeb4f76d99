#include "fit_report.hpp"

#include <cstdio>

namespace perdure::bench {
namespace {

const char* formula_of(Model model) {
  return model == Model::time ? "t(n) = latency + n / bandwidth" : "B(n) = n / (t_overhead + n / B_max)";
}

template <class AnyFit>
nlohmann::ordered_json with_residuals(nlohmann::ordered_json json, const AnyFit& fit) {
  json["residual_mean"] = fit.residuals.mean;
  json["residual_worst"] = fit.residuals.worst;
  json["samples"] = fit.samples;
  return json;
}

// The name determines the unit.
std::string parameter_text(const std::string& name, double value) {
  char text[128];
  if (const auto rate = name.find("_bytes_per_s"); rate != std::string::npos)
    std::snprintf(text, sizeof text, "%s %.1f MB/s", name.substr(0, rate).c_str(), value * 1e-6);
  else if (name.ends_with("_s"))
    std::snprintf(text, sizeof text, "%s %.3f us", name.substr(0, name.size() - 2).c_str(), value * 1e6);
  else
    std::snprintf(text, sizeof text, "%s %.0f", name.c_str(), value);
  return text;
}

}  // namespace

Fitted<Fit> fit(Model model, const std::vector<Sample>& samples, double mtu_bytes) {
  return model == Model::time ? fit_time(samples, mtu_bytes) : fit_throughput(samples);
}

nlohmann::ordered_json to_json(Model model, const Fitted<Fit>& fit) {
  nlohmann::ordered_json json{{"model", formula_of(model)}};
  if (!fit) return json["error"] = fit.error(), json;
  const bool times = model == Model::time;
  json[times ? "latency_s" : "overhead_s"] = fit->constant_s;
  json[times ? "bandwidth_bytes_per_s" : "max_bandwidth_bytes_per_s"] = fit->bytes_per_s;
  if (fit->free_bytes > 0) json["mtu_bytes"] = fit->free_bytes;
  return with_residuals(std::move(json), *fit);
}

nlohmann::ordered_json to_json(Composition composition, const Fitted<WholeFit>& fit) {
  nlohmann::ordered_json json{{"model", formula(composition)}};
  if (!fit) return json["error"] = fit.error(), json;
  json["overhead_s"] = fit->overhead_s;
  return with_residuals(std::move(json), *fit);
}

std::string fit_text(const nlohmann::ordered_json& fit) {
  std::string text = fit.at("model").get<std::string>() + ": ";
  if (fit.contains("error")) return text + "not fitted: " + fit["error"].get<std::string>();
  for (const auto& [name, value] : fit.items())
    if (value.is_number() && !name.starts_with("residual") && name != "samples")
      text += parameter_text(name, value.get<double>()) + ", ";
  char residuals[96];
  std::snprintf(residuals, sizeof residuals, "; residuals: mean %.1f %%, worst %.1f %%",
                fit.at("residual_mean").get<double>() * 100, fit.at("residual_worst").get<double>() * 100);
  return text.substr(0, text.size() - 2) + residuals;
}

}  // namespace perdure::bench
