#include "calibration/measure.hpp"

#include <algorithm>

#include "device/shared_device.hpp"
#include "placement/sampling.hpp"

namespace perdure::calibration {
namespace {

using base::Result;

class EmulatedBench final : public Bench {
 public:
  EmulatedBench(const device::Device& device, std::uint64_t seed) : device_(device, seed) {}

  Result<Round> round(unsigned writers, std::uint64_t chunk_bytes) override {
    now_s_ += 1;  // not within the same moment of a load that varies
    const double begin = now_s_;
    for (unsigned i = 0; i < writers; ++i) device_.start(begin, static_cast<double>(chunk_bytes));
    while (const auto next = device_.next_event()) {
      device_.advance(*next);
      for (const auto& completion : device_.take_completed()) now_s_ = completion.time_s;
    }
    return Round{0, static_cast<double>(writers) * static_cast<double>(chunk_bytes) / (now_s_ - begin)};
  }

 private:
  device::SharedDevice device_;
  double now_s_ = 0;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void add(std::vector<placement::Sample>& samples, const std::vector<placement::Sample>& more) {
  samples.insert(samples.end(), more.begin(), more.end());
  std::sort(samples.begin(), samples.end(), [](const auto& a, const auto& b) { return a.writers < b.writers; });
}

std::string remedy_for(const base::Error& error) {
  if (error.code == PERDURE_NO_SPACE)
    return "free space, raise the tier's max_bytes, or measure less at once: --max-writers or --chunk-bytes";
  if (error.code == PERDURE_IO) return "the device fails; check it and the kernel's log before using this tier";
  return error.remedy;
}

}  // namespace

std::unique_ptr<Bench> emulated_bench(const device::Device& device, std::uint64_t seed) {
  return std::make_unique<EmulatedBench>(device, seed);
}

std::uint64_t bytes_to_write(const Plan& plan) {
  std::uint64_t chunks = 0;
  for (unsigned writers : plan.counts) chunks += writers;
  return 2 * chunks * plan.chunk_bytes * plan.repetitions;
}

Result<Measured> measure(Bench& bench, const Plan& plan) {
  std::vector<std::vector<double>> recycled(plan.counts.size()), fresh(plan.counts.size());
  for (unsigned repetition = 0; repetition < plan.repetitions; ++repetition)
    for (std::size_t i = 0; i < plan.counts.size(); ++i) {
      auto round = bench.round(plan.counts[i], plan.chunk_bytes);
      if (!round) {
        base::Error error = std::move(round).error();
        error.cause += " (measuring " + std::to_string(plan.counts[i]) + " writers)";
        error.remedy = remedy_for(error);
        return base::fail(std::move(error));
      }
      recycled[i].push_back(round->recycled);
      if (round->fresh > 0) fresh[i].push_back(round->fresh);
      if (plan.progress) plan.progress(2 * plan.chunk_bytes * plan.counts[i]);
    }
  Measured measured;
  for (std::size_t i = 0; i < plan.counts.size(); ++i) {
    if (recycled[i].empty()) continue;
    measured.recycled.push_back({plan.counts[i], median(recycled[i])});
    if (!fresh[i].empty()) measured.fresh.push_back({plan.counts[i], median(fresh[i])});
  }
  return measured;
}

Result<Measured> measure_where_it_bends(unsigned max_writers,
                                        const std::function<Result<Measured>(const std::vector<unsigned>&)>& stage) {
  Measured all;
  for (auto counts = placement::counts_to_measure_next({}, max_writers); !counts.empty();
       counts = placement::counts_to_measure_next(all.recycled, max_writers)) {
    PERDURE_TRY(const Measured more, stage(counts));
    add(all.recycled, more.recycled);
    add(all.fresh, more.fresh);
  }
  return all;
}

}  // namespace perdure::calibration
