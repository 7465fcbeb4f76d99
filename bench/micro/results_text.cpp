// Formats Results for readers and plotting tools.
#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "plot/chart.hpp"
#include "results.hpp"

namespace perdure::micro {
namespace {

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t kKi = 1024;
  if (bytes >= kKi * kKi && bytes % (kKi * kKi) == 0) return fmt::format("{} MiB", bytes / kKi / kKi);
  if (bytes >= kKi && bytes % kKi == 0) return fmt::format("{} KiB", bytes / kKi);
  return fmt::format("{} B", bytes);
}

std::string row_text(const Json& row) {
  const auto number = [&](const char* key) { return row.at(key).get<double>(); };
  std::string text =
      fmt::format("  {:>12} {:>14.3f} {:>14.3f} {:>14.3f} {:>14.1f}", size_text(row.at("bytes").get<std::uint64_t>()),
                  number("time_s") * 1e6, number("time_min_s") * 1e6, number("time_max_s") * 1e6,
                  number("bandwidth_bytes_per_s") * 1e-6);
  if (row.contains("model_error"))
    text += fmt::format(" {:>14.1f} {:>+8.1f} %", number("model_bandwidth_bytes_per_s") * 1e-6,
                        number("model_error") * 100);
  return text + "\n";
}

// The plot leaves out values that are not finite.
plot::Series plotted(const Json& rows, std::size_t begin, std::size_t end, const std::string& name, const char* rate) {
  const bool measured = std::string(rate) == "bandwidth_bytes_per_s";
  plot::Series series{.name = name, .points = {}, .line = !measured, .marks = measured};
  for (std::size_t i = begin; i < end; ++i)
    if (rows[i].contains(rate))
      series.points.push_back({rows[i]["bytes"].get<double>(), rows[i][rate].get<double>() * 1e-6});
  return series;
}

}  // namespace

std::string Results::csv() const {
  std::vector<std::string> columns;
  for (const Json& row : rows_)
    for (const auto& [key, value] : row.items())
      if (value.is_primitive() && std::find(columns.begin(), columns.end(), key) == columns.end())
        columns.push_back(key);
  std::string text = fmt::format("{}\n", fmt::join(columns, ","));
  for (const Json& row : rows_) {
    std::vector<std::string> cells;
    for (const std::string& column : columns) {
      const Json value = row.value(column, Json());
      cells.push_back(value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump());
    }
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return text;
}

std::string Results::table() const {
  std::string text = benchmark_;
  for (const auto& [key, value] : settings_.items()) text += fmt::format(", {} {}", key, value.dump());
  text += "\n";
  std::size_t begin = 0;
  for (const auto& [name, end] : series_) {
    text += fmt::format("\n{}\n  {:>12} {:>14} {:>14} {:>14} {:>14} {:>14} {:>10}\n", name, "size", "median us",
                        "min us", "max us", "MB/s", "model MB/s", "error");
    for (; begin < end; ++begin) text += row_text(rows_[begin]);
  }
  if (!fits_.empty()) text += "\n";
  for (const auto& [name, fit] : fits_.items()) text += fmt::format("{}: {}\n", name, bench::fit_text(fit));
  return text + note_texts_;
}

std::string Results::svg() const {
  plot::Chart chart{.title = benchmark_ + ": measured (marks) and modelled (lines)",
                    .x_label = "size in bytes",
                    .y_label = "MB/s",
                    .log_x = true,
                    .log_y = true,
                    .series = {}};
  std::size_t begin = 0;
  for (const auto& [name, end] : series_) {
    chart.series.push_back(plotted(rows_, begin, end, name, "bandwidth_bytes_per_s"));
    chart.series.push_back(plotted(rows_, begin, end, name + ", model", "model_bandwidth_bytes_per_s"));
    begin = end;
  }
  return plot::svg(chart);
}

}  // namespace perdure::micro
