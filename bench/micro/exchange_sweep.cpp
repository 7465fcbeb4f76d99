#include "exchange_sweep.hpp"

#include <algorithm>
#include <map>

#include "base/json.hpp"
#include "exchange_models.hpp"
#include "os/file.hpp"
#include "statistics.hpp"
#include "together.hpp"

namespace perdure::micro {
namespace {

std::vector<Variant> variants_of(const ExchangeSweep& sweep) {
  std::vector<Variant> variants;
  for (const ExchangeMode mode : kExchangeModes) {
    if (std::find(sweep.modes.begin(), sweep.modes.end(), name_of(mode)) == sweep.modes.end()) continue;
    if (!by_chunks(mode)) variants.push_back({mode, 0});
    for (const std::uint64_t chunk : sweep.chunk_bytes)
      if (by_chunks(mode)) variants.push_back({mode, chunk});
  }
  return variants;
}

/// The repetitions of one variant at one size. Operations are those of the slowest rank.
struct Repetitions {
  std::vector<double> total;
  std::map<std::string, std::vector<double>> operations;
};

base::Status repeat(Exchange& exchange, Repetitions* kept) {
  PERDURE_CHECK(agree(exchange.remove()));
  OperationTimes times;
  base::Status status;
  const double total = bench::timed_together([&] { status = exchange.once(times); });
  if (kept != nullptr) kept->total.push_back(total);
  for (std::size_t i = 0; i < kOperations.size(); ++i) {
    const double seconds = bench::slowest(times.*kOperations[i]);
    if (kept != nullptr && seconds > 0) kept->operations[kOperationNames[i]].push_back(seconds);
  }
  return agree(status);
}

Measured measured_of(const Repetitions& repetitions, std::uint64_t bytes, int ranks) {
  const double written = 2.0 * ranks * static_cast<double>(bytes);  // each rank's data, and its copy
  Measured measured{bytes, written, repetitions.total, Json::object()};
  for (const auto& [name, seconds] : repetitions.operations) {
    measured.more[name + "_s"] = bench::median(seconds);
    measured.more[name + "_bandwidth_bytes_per_s"] = written / 2 / bench::median(seconds);
  }
  return measured;
}

/// One rank's data and that of the rank whose copy it keeps.
struct Contents {
  std::vector<char> own, of_buddy;
  Contents(std::uint64_t bytes, int rank, Exchange::Buddies buddies) : own(bytes), of_buddy(bytes) {
    bench::fill_random(own, static_cast<unsigned>(rank) + 1);
    bench::fill_random(of_buddy, static_cast<unsigned>(buddies.from) + 1);
  }
};

Series series_of(const Variant& variant, int ranks, int nodes) {
  Series series;
  series.benchmark = "cpex";
  series.mode = name_of(variant.mode);
  series.more = {{"ranks", ranks}, {"nodes", nodes}};
  if (variant.chunk_bytes > 0) series.more["chunk_bytes"] = variant.chunk_bytes;
  return series;
}

// Variants alternate within a repetition.
base::Status measure_exchanges(const ExchangeSweep& sweep, const World& world, std::uint64_t bytes,
                               const std::string& directory, ExchangeSeries& all, Progress& progress) {
  const int step = sweep.ranks_per_node, ranks = world.size();
  const Exchange::Buddies buddies{(world.rank() + step) % ranks, (world.rank() - step + ranks) % ranks};
  const Contents contents(bytes, world.rank(), buddies);
  const std::vector<Variant> variants = variants_of(sweep);
  std::vector<Repetitions> kept(variants.size());
  for (int repetition = 0; repetition <= sweep.common.repetitions; ++repetition) {
    for (std::size_t i = 0; i < variants.size(); ++i) {
      Exchange exchange(variants[i].mode, variants[i].chunk_bytes, buddies, directory, contents.own);
      PERDURE_CHECK(repeat(exchange, repetition > 0 ? &kept[i] : nullptr));
      if (repetition == sweep.common.repetitions) PERDURE_CHECK(agree(exchange.verify_copy(contents.of_buddy)));
      PERDURE_CHECK(agree(exchange.remove()));
    }
    progress.step();
  }
  for (std::size_t i = 0; i < variants.size(); ++i) {
    Series& series = all.try_emplace(variants[i], series_of(variants[i], ranks, ranks / step)).first->second;
    series.sizes.push_back(measured_of(kept[i], bytes, ranks));
  }
  return {};
}

}  // namespace

base::Status measure(const ExchangeSweep& sweep, const World& world, const std::string& directory, Results& results) {
  const std::string node = directory + "/node-" + std::to_string(world.rank() / sweep.ranks_per_node);
  const std::string own = node + "/rank-" + std::to_string(world.rank());
  PERDURE_CHECK(agree(os::make_directories(own)));
  ExchangeSeries all;
  const std::vector<std::uint64_t> sizes = sweep.common.sizes();
  Progress progress(world, sizes.size() * (sweep.common.repetitions + 1U));
  for (const std::uint64_t bytes : sizes) PERDURE_CHECK(measure_exchanges(sweep, world, bytes, own, all, progress));
  for (const auto& [variant, series] : all) results.add(series);
  compose(all, results);
  return {};
}

}  // namespace perdure::micro
