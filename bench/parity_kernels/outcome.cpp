#include "outcome.hpp"

#include <algorithm>
#include <cstdio>

namespace perdure::parity_kernels {
namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double ratio(const Measured& one, const std::vector<Measured>& all) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < one.bytes_per_s.size(); ++i)
    ratios.push_back(one.bytes_per_s[i] / std::max(all[0].bytes_per_s[i], all[1].bytes_per_s[i]));
  return median(ratios);
}

/// Returns the smallest ratio of cases whose names begin and end like this: a promise about xor must hold for every
/// group size.
double smallest(const nlohmann::json& cases, const std::string& begin, const std::string& end) {
  double least = -1;
  for (const auto& one : cases) {
    const std::string name = one["name"];
    if (!name.starts_with(begin) || !name.ends_with(end)) continue;
    if (least < 0 || one["ratio"] < least) least = one["ratio"];
  }
  return least;
}

nlohmann::json goal(const char* what, double value, double wanted) {
  return {{"what", what}, {"value", value}, {"wanted", wanted}, {"met", value >= wanted}};
}

}  // namespace

nlohmann::json to_json(const std::vector<Measured>& measured) {
  nlohmann::json j;
  j["cases"] = nlohmann::json::array();
  for (const Measured& one : measured)
    j["cases"].push_back({{"name", one.name},
                          {"k", one.k},
                          {"m", one.m},
                          {"bytes_per_s", median(one.bytes_per_s)},
                          {"ratio", ratio(one, measured)}});
  const auto& cases = j["cases"];
  j["xor_over_memcpy"] = smallest(cases, "xor_", "_encode");
  j["rs_8_2_over_memcpy"] = smallest(cases, "rs_8_2_", "_encode");
  j["xor_decode_over_memcpy"] = smallest(cases, "xor_", "_decode_one");
  j["rs_8_2_decode_over_memcpy"] = smallest(cases, "rs_8_2_", "_decode_one");
  j["goals"] = {goal("xor encoding / memcpy", j["xor_over_memcpy"], 0.6),
                goal("rs 8+2 encoding / memcpy", j["rs_8_2_over_memcpy"], 0.6),
                goal("xor decoding of one loss / memcpy", j["xor_decode_over_memcpy"], 0.5),
                goal("rs 8+2 decoding of one loss / memcpy", j["rs_8_2_decode_over_memcpy"], 0.5)};
  return j;
}

void print_table(const nlohmann::json& j) {
  std::printf("Parities over %.1f MB of data in chunks of %.2f MB, kernels %s, one core, %d repetitions, medians\n",
              j["bytes"].get<double>() * 1e-6, j["chunk_bytes"].get<double>() * 1e-6,
              j["kernels"].get<std::string>().c_str(), j["repetitions"].get<int>());
  std::printf("  %-26s %18s %18s\n", "", "GB/s of data read", "over memcpy");
  for (const auto& one : j["cases"])
    std::printf("  %-26s %18.2f %18.2f\n", one["name"].get<std::string>().c_str(),
                one["bytes_per_s"].get<double>() * 1e-9, one["ratio"].get<double>());
  for (const auto& goal : j["goals"])
    std::printf("  %-40s %6.2f   goal >= %.2f   %s\n", goal["what"].get<std::string>().c_str(),
                goal["value"].get<double>(), goal["wanted"].get<double>(), goal["met"].get<bool>() ? "met" : "NOT MET");
}

}  // namespace perdure::parity_kernels
