#include "medians.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/bytes.hpp"

namespace perdure::studies {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Cell cell_of(const Row& row) { return {row.application, row.nodes, row.writers, row.chunks, row.cache_bytes}; }

std::string Cell::text() const {
  return fmt::format("{}{}{} nodes, {} writers, {} cache", application, application.empty() ? "" : ", ", nodes, writers,
                     base::format_bytes(cache_bytes));
}

std::vector<Cell> Medians::cells() const {
  std::vector<Cell> found;
  for (const Row& row : rows_)
    if (std::find(found.begin(), found.end(), cell_of(row)) == found.end()) found.push_back(cell_of(row));
  return found;
}

std::vector<std::string> Medians::policies() const {
  std::vector<std::string> found;
  for (const Row& row : rows_)
    if (std::find(found.begin(), found.end(), row.policy) == found.end()) found.push_back(row.policy);
  return found;
}

std::vector<double> Medians::values(const Cell& cell, const std::string& policy, const Figure& figure) const {
  std::vector<double> values;
  for (const Row& row : rows_)
    if (row.policy == policy && row.error.empty() && cell_of(row) == cell) values.push_back(figure(row));
  return values;
}

bool Medians::has(const Cell& cell, const std::string& policy) const {
  return !values(cell, policy, local_phase).empty();
}

double Medians::of(const Cell& cell, const std::string& policy, const Figure& figure) const {
  return median(values(cell, policy, figure));
}

double Medians::ratio(const Cell& cell, const std::string& above, const std::string& below,
                      const Figure& figure) const {
  if (!has(cell, above) || !has(cell, below)) return std::numeric_limits<double>::quiet_NaN();
  const double divisor = of(cell, below, figure);
  return divisor > 0 ? of(cell, above, figure) / divisor : 0;
}

}  // namespace perdure::studies
