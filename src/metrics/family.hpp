#pragma once
// Defines counters, gauges and histograms as plain data. Engines answer with them, and exporters write them.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace perdure::metrics {

enum class Kind { counter, gauge, histogram };

using Labels = std::vector<std::pair<std::string, std::string>>;  ///< name and value

/// Counts observations by size.
struct Distribution {
  std::vector<double> bounds;         ///< finite, ascending: the upper bounds of all buckets but the last
  std::vector<std::uint64_t> counts;  ///< per bucket, not cumulative; one more than bounds: the last has no bound
  double sum = 0;
  friend bool operator==(const Distribution&, const Distribution&) = default;
};

struct Sample {
  Labels labels;
  double value = 0;                          ///< of a counter or a gauge
  std::optional<Distribution> distribution;  ///< of a histogram
  friend bool operator==(const Sample&, const Sample&) = default;
};

/// All samples of one name.
struct Family {
  std::string name;
  Kind kind = Kind::gauge;
  std::string help;
  std::vector<Sample> samples;
  friend bool operator==(const Family&, const Family&) = default;
};

}  // namespace perdure::metrics
