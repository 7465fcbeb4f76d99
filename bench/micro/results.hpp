#pragma once
// What a microbenchmark found: series of sizes, each with its model, as JSON, CSV, table and plot. Pure.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fit_report.hpp"

namespace perdure::micro {

using Json = nlohmann::ordered_json;

/// One size, repeated.
struct Measured {
  std::uint64_t bytes = 0;      ///< of one rank, or one message
  double volume_bytes = 0;      ///< what all together moved in that time; the models' n
  std::vector<double> seconds;  ///< one per repetition
  Json more = Json::object();   ///< further figures of the row
};

struct Series {
  std::string benchmark, mode;
  Json more = Json::object();  ///< further members of every row; its values tell series of one mode apart
  std::vector<Measured> sizes;
  bench::Model model = bench::Model::throughput;
  double mtu_bytes = 0;

  std::string name() const;  ///< "sario existing ranks 2"
  std::vector<bench::Sample> samples() const;
};

class Results {
 public:
  Results(std::string benchmark, Json settings);
  void add(const Series& series);
  /// A fit that is not of one series, or a finding; shown below the tables.
  void add_fit(const std::string& name, const Json& fit) { fits_[name] = fit; }
  void note(const std::string& name, const Json& value, const std::string& text);

  /// {"benchmark", "settings", "rows": [{"benchmark", "mode", "bytes", "time_s", ...}], "fit": {series: fit}}
  Json json() const;
  std::string csv() const;  ///< of the rows, what is not an array
  std::string table() const;
  std::string svg() const;  ///< rates over sizes: measured and modelled

 private:
  std::string benchmark_;
  Json settings_, rows_ = Json::array(), fits_ = Json::object(), notes_ = Json::object();
  std::string note_texts_;
  std::vector<std::pair<std::string, std::size_t>> series_;  // name, index of the row behind its last
};

}  // namespace perdure::micro
