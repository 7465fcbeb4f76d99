#pragma once
// Computes medians over the repetitions of a study's cells.
#include <functional>
#include <string>
#include <vector>

#include "row.hpp"

namespace perdure::studies {

double median(std::vector<double> values);  ///< 0 for none

/// Identifies one cell: everything but policy and repetition.
struct Cell {
  std::string application;
  unsigned nodes = 1, writers = 0, chunks = 0;
  std::uint64_t cache_bytes = 0;
  auto operator<=>(const Cell&) const = default;
  std::string text() const;
};
Cell cell_of(const Row& row);

using Figure = std::function<double(const Row&)>;
inline double local_phase(const Row& row) { return row.local_phase_s; }
inline double flush_completion(const Row& row) { return row.flush_completion_s; }

/// All rows must be from one driver.
class Medians {
 public:
  explicit Medians(const std::vector<Row>& rows) : rows_(rows) {}
  /// In the order of the rows. A row with an error has no figures.
  std::vector<Cell> cells() const;
  std::vector<std::string> policies() const;
  bool has(const Cell& cell, const std::string& policy) const;
  double of(const Cell& cell, const std::string& policy, const Figure& figure) const;
  /// Returns figure(above) / figure(below), each a median; NaN if one of them has no rows.
  double ratio(const Cell& cell, const std::string& above, const std::string& below, const Figure& figure) const;

 private:
  std::vector<double> values(const Cell& cell, const std::string& policy, const Figure& figure) const;
  const std::vector<Row>& rows_;
};

}  // namespace perdure::studies
