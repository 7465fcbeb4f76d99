#include "exchange_models.hpp"

#include "statistics.hpp"

namespace perdure::micro {
namespace {

// Returns the rate of one operation, fitted over the sizes; 0 if there is no fit.
double rate_of(const Series& series, const std::string& operation) {
  std::vector<bench::Sample> samples;
  for (const Measured& measured : series.sizes)
    if (measured.more.contains(operation + "_s"))
      samples.push_back({static_cast<double>(measured.bytes), measured.more[operation + "_s"].get<double>()});
  const auto fit = bench::fit_throughput(samples);
  return fit ? fit->bytes_per_s : 0;
}

bench::Composition composition_of(ExchangeMode mode) {
  if (mode == ExchangeMode::partner) return bench::Composition::partner;
  return mode == ExchangeMode::overlapped ? bench::Composition::overlapped : bench::Composition::buddy;
}

}  // namespace

void compose(const ExchangeSeries& all, Results& results) {
  const auto sequential = all.find({ExchangeMode::sequential, 0}), partner = all.find({ExchangeMode::partner, 0});
  const auto alone = sequential != all.end() ? sequential : partner;
  if (alone == all.end()) return;
  const bench::Parts parts{rate_of(alone->second, "write"), partner != all.end() ? rate_of(partner->second, "read") : 0,
                           rate_of(alone->second, "exchange"), rate_of(alone->second, "copy")};
  results.note("parts_bytes_per_s_and_rank",
               {{"write", parts.write_bytes_per_s},
                {"read", parts.read_bytes_per_s},
                {"exchange", parts.exchange_bytes_per_s},
                {"copy", parts.copy_bytes_per_s}},
               "parts are those of mode " + alone->second.mode + ", n is the size of one rank");
  for (const auto& [variant, series] : all) {
    std::vector<bench::Sample> wholes;
    for (const Measured& measured : series.sizes)
      wholes.push_back({static_cast<double>(measured.bytes), bench::median(measured.seconds)});
    const auto composition = composition_of(variant.mode);
    results.add_fit(series.name() + ", composed",
                    bench::to_json(composition, bench::fit_whole(composition, parts, wholes)));
  }
}

}  // namespace perdure::micro
