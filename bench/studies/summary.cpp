#include "summary.hpp"

#include <fmt/format.h>

#include "medians.hpp"

namespace perdure::studies {
namespace {

constexpr std::size_t kMostLines = 70;

}  // namespace

std::string summary_table(const std::vector<Row>& rows) {
  const Medians medians(rows);
  const auto policies = medians.policies();
  std::string text = fmt::format("{:>6} {:>8} {:>7} {:>11}  {:<18} {:>10} {:>11} {:>10}\n", "NODES", "WRITERS",
                                 "CHUNKS", "CACHE MiB", "POLICY", "LOCAL s", "FLUSHED s", "ON SSD");
  const auto cells = medians.cells();
  const std::size_t step = (cells.size() * policies.size() + kMostLines - 1) / kMostLines;
  for (std::size_t i = 0; i < cells.size(); i += step) {
    const Cell& cell = cells[i];
    for (const std::string& policy : policies) {
      if (!medians.has(cell, policy)) continue;
      text += fmt::format("{:>6} {:>8} {:>7} {:>11}  {:<18} {:>10.2f} {:>11.2f} {:>10.0f}{}\n", cell.nodes,
                          cell.writers, cell.chunks, cell.cache_bytes >> 20U, policy,
                          medians.of(cell, policy, local_phase), medians.of(cell, policy, flush_completion),
                          medians.of(cell, policy, [](const Row& row) { return static_cast<double>(row.ssd_chunks); }),
                          cell.application.empty() ? "" : "  " + cell.application);
    }
  }
  if (step > 1) text += fmt::format("(one of {} cells; all are in results.csv)\n", step);
  return text;
}

}  // namespace perdure::studies
