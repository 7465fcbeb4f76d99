#include "results.hpp"

#include "base/json.hpp"
#include "statistics.hpp"

namespace perdure::micro {
namespace {

Json row_of(const Series& series, const Measured& measured, const bench::Fitted<bench::Fit>& fit) {
  const bench::Spread time = bench::spread(measured.seconds);
  Json row{{"benchmark", series.benchmark}, {"mode", series.mode}};
  row.update(series.more);
  row["bytes"] = measured.bytes;
  row["time_s"] = time.median;
  row["time_min_s"] = time.min;
  row["time_max_s"] = time.max;
  row["bandwidth_bytes_per_s"] = time.median > 0 ? measured.volume_bytes / time.median : 0;
  if (fit && time.median > 0) {
    const double model_s = fit->seconds(measured.volume_bytes);
    row["model_time_s"] = model_s;
    row["model_bandwidth_bytes_per_s"] = model_s > 0 ? measured.volume_bytes / model_s : 0;
    // The model's error, in its own quantity: time or rate.
    row["model_error"] = (series.model == bench::Model::time ? model_s / time.median : time.median / model_s) - 1;
  }
  row.update(measured.more);
  return row;
}

}  // namespace

std::string Series::name() const {
  std::string text = benchmark + " " + mode;
  for (const auto& [key, value] : more.items()) text += " " + key + " " + value.dump();
  return text;
}

std::vector<bench::Sample> Series::samples() const {
  std::vector<bench::Sample> samples;
  for (const Measured& measured : sizes) samples.push_back({measured.volume_bytes, bench::median(measured.seconds)});
  return samples;
}

Results::Results(std::string benchmark, Json settings)
    : benchmark_(std::move(benchmark)), settings_(std::move(settings)) {}

void Results::add(const Series& series) {
  const auto fit = bench::fit(series.model, series.samples(), series.mtu_bytes);
  for (const Measured& measured : series.sizes) rows_.push_back(row_of(series, measured, fit));
  series_.emplace_back(series.name(), rows_.size());
  add_fit(series.name(), bench::to_json(series.model, fit));
}

void Results::note(const std::string& name, const Json& value, const std::string& text) {
  notes_[name] = value;
  note_texts_ += text + "\n";
}

Json Results::json() const {
  Json all{{"benchmark", benchmark_}, {"settings", settings_}, {"rows", rows_}, {"fit", fits_}};
  all.update(notes_);
  return all;
}

}  // namespace perdure::micro
