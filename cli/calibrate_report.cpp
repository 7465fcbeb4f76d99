#include "cli/calibrate_report.hpp"

#include <fmt/format.h>

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "cli/libraries.hpp"
#include "inspect/table.hpp"
#include "plot/chart.hpp"

namespace perdure::cli {
namespace {

using calibration::Calibration;
using placement::DeviceModel;
using placement::Sample;

base::Json samples_json(const std::vector<Sample>& samples) {
  base::Json list = base::Json::array();
  for (const Sample& sample : samples)
    list.push_back({{"writers", sample.writers}, {"bytes_per_s", sample.bytes_per_s}});
  return list;
}

/// Gives the throughput with so many writers; empty when it was not measured.
std::string rate_with(const std::vector<Sample>& samples, unsigned writers) {
  for (const Sample& sample : samples)
    if (sample.writers == writers) return fmt::format("{:.3f}", sample.bytes_per_s * 1e-9);
  return "";
}

std::string heading(const Calibrated& tier) {
  const Calibration& c = tier.calibration;
  std::string text = fmt::format("tier {}: ", c.tier);
  if (tier.emulated)
    text += fmt::format("emulated, in virtual time, description {}\n", c.device.path);
  else
    text += fmt::format("{} ({}, device {})\nmachine {}: {}, {} processors, kernel {}; {}\n", c.device.path,
                        c.device.file_system, c.device.device_id, c.machine.host, c.machine.processor,
                        c.machine.processors, c.machine.kernel, date_text(c.created_ns, "%Y-%m-%d %H:%M UTC"));
  return text +
         fmt::format("chunks of {}, 1 to {} writers, medians of {} repetitions; aggregates of the node in GB/s\n",
                     base::format_bytes(c.chunk_bytes), c.max_writers, c.repetitions);
}

// A model cannot be closer to a device than the device to itself: both figures together show the source of the error.
std::string verdict(const Calibrated& tier) {
  const placement::Accuracy &model = *tier.accuracy, &device = tier.repeatability;
  std::string text =
      fmt::format("accuracy: mean error {:.1f} %, worst {:.1f} % with {} writers, {} counts compared: {}\n",
                  100 * model.mean_error, 100 * model.worst_error, model.worst_writers, model.compared,
                  good_enough(model) ? "good" : "NOT good (bounds: 5 % and 15 %)");
  text += fmt::format(
      "repeatability: the {} counts measured for the model differ by {:.1f} % when they are measured again, "
      "at worst {:.1f} % with {} writers\n",
      device.compared, 100 * device.mean_error, 100 * device.worst_error, device.worst_writers);
  if (!good_enough(model) && !good_enough(device))
    text += "this machine does not repeat itself within the bounds; let nothing else run, or use more --repetitions\n";
  return text;
}

}  // namespace

bool good_enough(const placement::Accuracy& accuracy) {
  return accuracy.compared > 0 && accuracy.mean_error < kMeanErrorBound && accuracy.worst_error < kWorstErrorBound;
}

base::Json calibrated_json(const Calibrated& tier, const DeviceModel& model) {
  base::Json json = base::Json::parse(calibration::encode(tier.calibration));
  json["emulated"] = tier.emulated;
  json["model_file"] = tier.model_file;
  json["plot_file"] = tier.plot_file;
  base::Json predicted = base::Json::array();
  for (unsigned k = 1; k <= model.max_writers(); ++k) predicted.push_back(model.bytes_per_s(k));
  json["predicted_bytes_per_s"] = predicted;
  if (!tier.accuracy) return json;
  json["measured"] = samples_json(tier.measured);
  json["accuracy"] = {{"mean_error", tier.accuracy->mean_error},
                      {"worst_error", tier.accuracy->worst_error},
                      {"worst_writers", tier.accuracy->worst_writers},
                      {"compared", tier.accuracy->compared},
                      {"good", good_enough(*tier.accuracy)}};
  json["repeatability"] = {{"mean_difference", tier.repeatability.mean_error},
                           {"worst_difference", tier.repeatability.worst_error},
                           {"worst_writers", tier.repeatability.worst_writers},
                           {"compared", tier.repeatability.compared}};
  return json;
}

std::string calibrated_text(const Calibrated& tier, const DeviceModel& model) {
  constexpr auto kRight = Table::Align::right;
  const bool fresh = !tier.calibration.fresh.empty(), checked = tier.accuracy.has_value();
  std::vector<Table::Column> columns{{"WRITERS", kRight}, {"RECYCLED", kRight}};
  if (fresh) columns.push_back({"FRESH", kRight});
  if (checked) columns.push_back({"PREDICTED", kRight}), columns.push_back({"MEASURED", kRight});
  Table table(columns);
  for (const Sample& sample : checked ? tier.measured : tier.calibration.recycled) {
    std::vector<std::string> cells{std::to_string(sample.writers),
                                   rate_with(tier.calibration.recycled, sample.writers)};
    if (fresh) cells.push_back(rate_with(tier.calibration.fresh, sample.writers));
    if (checked) {
      cells.push_back(fmt::format("{:.3f}", model.bytes_per_s(sample.writers) * 1e-9));
      cells.push_back(fmt::format("{:.3f}", sample.bytes_per_s * 1e-9));
    }
    table.row(std::move(cells));
  }
  std::string text = heading(tier) + table.text();
  if (checked) text += verdict(tier);
  if (!tier.model_file.empty()) text += "model: " + tier.model_file + "\n";
  if (!tier.plot_file.empty()) text += "plot: " + tier.plot_file + "\n";
  return text;
}

std::string calibrated_svg(const Calibrated& tier, const DeviceModel& model) {
  const auto points = [](const std::vector<Sample>& samples) {
    std::vector<plot::Point> list;
    for (const Sample& sample : samples)
      list.push_back({static_cast<double>(sample.writers), sample.bytes_per_s * 1e-9});
    return list;
  };
  std::vector<plot::Point> curve;
  for (unsigned k = 1; k <= model.max_writers(); ++k)
    curve.push_back({static_cast<double>(k), model.bytes_per_s(k) * 1e-9});
  plot::Chart chart{"Write throughput of tier " + tier.calibration.tier,
                    "concurrent writers of one chunk each",
                    "aggregate of the node, GB/s",
                    false,
                    false,
                    {}};
  chart.series.push_back({"predicted", std::move(curve), true, false});
  chart.series.push_back({"calibration", points(tier.calibration.recycled), false, true});
  if (!tier.calibration.fresh.empty())
    chart.series.push_back({"fresh slots", points(tier.calibration.fresh), true, true});
  if (!tier.measured.empty()) chart.series.push_back({"measured", points(tier.measured), true, false});
  return plot::svg(chart);
}

}  // namespace perdure::cli
