// Studies the accuracy of the device models: predicted and measured throughput of the slowest tier at every writer
// count (VeloC IPDPS'19, V-C, Fig. 3). It measures in virtual time as `perdure calibrate --emulated` does. Predictions
// and measurements meet different moments of the varying device.
//
// In the rows, writers write one chunk each: `local_phase_s` is the time for that, and nothing is flushed
// (flush_completion_s 0). Policies: `measured`; `predicted` from counts that double and where the curve bends; and
// `predicted-equal` from equally spaced ones, as in the paper.
#include "calibration/measure.hpp"
#include "placement/sampling.hpp"
#include "study.hpp"

namespace perdure::studies {
namespace {

using placement::DeviceModel;
using placement::Sample;

constexpr std::uint64_t kChunkBytes = 64U << 20U;
constexpr unsigned kRange = 256, kRounds = 5;

/// Measures at `counts`; if empty, at counts that double and where the curve bends.
base::Result<std::vector<Sample>> measured(const device::Device& tier, std::uint64_t seed,
                                           const std::vector<unsigned>& counts) {
  const auto bench = calibration::emulated_bench(tier, seed);
  const auto stage = [&](const std::vector<unsigned>& some) {
    return calibration::measure(*bench, {some, kChunkBytes, kRounds, {}});
  };
  PERDURE_TRY(auto found, counts.empty() ? calibration::measure_where_it_bends(kRange, stage) : stage(counts));
  return std::move(found.recycled);
}

Row row_of(const char* policy, const Sample& sample, unsigned repetition, std::uint64_t seed) {
  Row row;
  row.policy = policy;
  row.driver = "simulator";
  row.writers = sample.writers;
  row.chunks = 1;
  row.chunk_bytes = kChunkBytes;
  row.repetition = repetition;
  row.seed = seed;
  row.local_phase_s = sample.writers * static_cast<double>(kChunkBytes) / sample.bytes_per_s;
  row.ssd_chunks = sample.writers;
  row.extra["bytes_per_s"] = sample.bytes_per_s;
  return row;
}

struct ModelErrors {
  std::vector<double> mean, worst;
};

/// Calibrates once at `counts` (empty: chosen while measuring), and judges its prediction for every count.
base::Status judge(const Context& context, const char* policy, const std::vector<unsigned>& counts, unsigned repetition,
                   const std::vector<Sample>& every, Results& results, ModelErrors& errors) {
  const std::uint64_t seed = context.seed + repetition;
  PERDURE_TRY(const auto samples, measured(context.node.tiers.back(), seed, counts));
  PERDURE_TRY(const auto model, DeviceModel::fit(samples, kRange));
  for (const Sample& sample : every)
    results.rows.push_back(row_of(policy, {sample.writers, model.bytes_per_s(sample.writers)}, repetition, seed));
  const auto accuracy = placement::accuracy(model, every);
  errors.mean.push_back(accuracy.mean_error);
  errors.worst.push_back(accuracy.worst_error);
  return {};
}

}  // namespace

base::Result<Results> run_model(const Context& context) {
  const device::Device& tier = context.node.tiers.back();
  std::vector<unsigned> counts;
  for (unsigned k = 1; k <= kRange; ++k) counts.push_back(k);
  Results results;
  ModelErrors chosen, equal;
  for (unsigned repetition = 0; repetition < context.repetitions; ++repetition) {
    const std::uint64_t seed = context.seed + 1000 + repetition;  // another time than that of the calibration
    PERDURE_TRY(const auto every, measured(tier, seed, counts));
    for (const Sample& sample : every) results.rows.push_back(row_of("measured", sample, repetition, seed));
    PERDURE_CHECK(judge(context, "predicted", {}, repetition, every, results, chosen));
    PERDURE_CHECK(
        judge(context, "predicted-equal", placement::counts_to_measure(kRange), repetition, every, results, equal));
  }
  results.goals = {at_most("mean error, 26 of 256 counts measured", 0.05, median(chosen.mean)),
                   at_most("worst error, 26 of 256 counts measured", 0.15, median(chosen.worst)),
                   at_most("mean error, equally spaced counts", 0.05, median(equal.mean)),
                   at_most("worst error, equally spaced counts", 0.15, median(equal.worst))};
  const Medians medians(results.rows);
  plot::Chart chart{"Write throughput of tier " + tier.name + ", predicted and measured",
                    "concurrent writers",
                    "MB/s",
                    true,
                    false,
                    {}};
  for (const char* policy : {"measured", "predicted", "predicted-equal"}) {
    plot::Series series{policy, {}, true, false};
    for (const Cell& cell : medians.cells())
      series.points.push_back({static_cast<double>(cell.writers), medians.of(cell, policy, [](const Row& row) {
                                 return row.extra.at("bytes_per_s") * 1e-6;
                               })});
    chart.series.push_back(std::move(series));
  }
  results.plots = {{"throughput", std::move(chart)}};
  return results;
}

}  // namespace perdure::studies
