#pragma once
// Holds a microbenchmark's results: series of sizes, each with its model, as JSON, CSV, table and plot. Pure.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fit_report.hpp"

namespace perdure::micro {

using Json = nlohmann::ordered_json;

/// The repetitions of one size.
struct Measured {
  std::uint64_t bytes = 0;      ///< of one rank, or one message
  double volume_bytes = 0;      ///< bytes that all ranks together moved in that time; the models' n
  std::vector<double> seconds;  ///< one per repetition
  Json more = Json::object();   ///< further figures of the row
};

struct Series {
  std::string benchmark, mode;
  Json more = Json::object();  ///< further members of every row; their values distinguish series of one mode
  std::vector<Measured> sizes;
  bench::Model model = bench::Model::throughput;
  double mtu_bytes = 0;

  std::string name() const;  ///< for example "sario existing ranks 2"
  std::vector<bench::Sample> samples() const;
};

class Results {
 public:
  Results(std::string benchmark, Json settings);
  void add(const Series& series);
  /// Adds a fit that does not belong to one series, or a finding; both are shown below the tables.
  void add_fit(const std::string& name, const Json& fit) { fits_[name] = fit; }
  void note(const std::string& name, const Json& value, const std::string& text);

  /// {"benchmark", "settings", "rows": [{"benchmark", "mode", "bytes", "time_s", ...}], "fit": {series: fit}}
  Json json() const;
  std::string csv() const;  ///< the rows without their arrays
  std::string table() const;
  std::string svg() const;  ///< rates over sizes: measured and modelled

 private:
  std::string benchmark_;
  Json settings_, rows_ = Json::array(), fits_ = Json::object(), notes_ = Json::object();
  std::string note_texts_;
  std::vector<std::pair<std::string, std::size_t>> series_;  // name, index after its last row
};

}  // namespace perdure::micro
