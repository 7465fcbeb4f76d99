#include "file_cell.hpp"

#include <algorithm>

#include "os/file.hpp"
#include "statistics.hpp"
#include "together.hpp"

namespace perdure::micro {
namespace {

std::uint64_t aligned(std::uint64_t bytes, std::uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// Returns the ratio of the slowest rank's time to the fastest one's, in one repetition.
double rank_spread(const std::vector<double>& ranks) {
  const auto [least, most] = std::minmax_element(ranks.begin(), ranks.end());
  return *least > 0 ? *most / *least : 1;
}

}  // namespace

FileCell::FileCell(const FileSweep& sweep, Layout layout, FileMode mode, const Writers& writers, std::uint64_t bytes)
    : sweep_(sweep), layout_(layout), writers_(writers), bytes_(bytes), options_{mode, sweep.block_bytes, sweep.sync} {
  if (layout == Layout::aggregated) {
    target_.shared_by = writers.node;
    target_.offset = static_cast<std::uint64_t>(writers.rank_in_node) * aligned(bytes, sweep.alignment_bytes);
  }
}

std::string FileCell::path(int generation) const {
  const std::string name = layout_ == Layout::aggregated ? "node" : "rank-" + std::to_string(writers_.rank);
  return writers_.directory + "/" + name + "-" + name_of(options_.mode) + "-" + std::to_string(generation);
}

base::Status FileCell::remove_file(const std::string& path) const {
  return target_.first() ? os::remove_file(path) : base::Status{};
}

base::Status FileCell::prepare(int repetition) {
  const bool fresh = options_.mode == FileMode::fresh;
  target_.path = path(fresh ? repetition : 0);
  // Removes a file only two repetitions later, so that the next file does not reuse its blocks at once.
  if (fresh && repetition >= 2) return remove_file(path(repetition - 2));
  if (options_.mode != FileMode::deleted) return {};
  const double begin = bench::now_s();
  PERDURE_CHECK(remove_file(target_.path));
  if (repetition > 1) removal_seconds_.push_back(bench::now_s() - begin);
  return {};
}

base::Status FileCell::repeat(int repetition, const std::vector<char>& data) {
  PERDURE_CHECK(agree(prepare(repetition), writers_.all));
  base::Status status;
  double own = 0;
  const double all = bench::timed_together(
      [&] {
        const double begin = bench::now_s();
        status = write_once(target_, options_, data);
        own = bench::now_s() - begin;
      },
      writers_.all);
  const auto ranks = gather(own, writers_.all);
  if (repetition > 0) {
    seconds_.push_back(all);
    rank_seconds_.push_back(ranks);
  }
  return agree(status, writers_.all);
}

base::Status FileCell::remove() {
  base::Status status = remove_file(target_.path);
  if (status && options_.mode == FileMode::fresh) status = remove_file(path(sweep_.common.repetitions - 1));
  return agree(status, writers_.all);
}

Measured FileCell::measured() const {
  Measured result{bytes_, static_cast<double>(bytes_) * writers_.count, seconds_};
  const bench::Spread time = bench::spread(seconds_);
  result.more["jitter"] = time.median > 0 ? (time.max - time.min) / time.median : 0;
  std::vector<double> spreads;
  for (const auto& ranks : rank_seconds_) spreads.push_back(rank_spread(ranks));
  result.more["slowest_over_fastest_rank"] = bench::median(spreads);
  if (!removal_seconds_.empty()) result.more["removal_s"] = bench::median(removal_seconds_);
  for (int rank = 0; rank < writers_.count; ++rank) {
    std::vector<double> own;
    for (const auto& ranks : rank_seconds_) own.push_back(ranks[static_cast<std::size_t>(rank)]);
    const bench::Spread spread = bench::spread(own);
    result.more["per_rank"].push_back(
        {{"rank", rank}, {"time_s", spread.median}, {"time_min_s", spread.min}, {"time_max_s", spread.max}});
  }
  return result;
}

Series FileCell::series() const {
  Series series;
  series.benchmark = layout_ == Layout::aggregated ? "sario" : "pario";
  series.mode = name_of(options_.mode);
  series.more = {{"ranks", writers_.count}, {"nodes", writers_.nodes}};
  return series;
}

}  // namespace perdure::micro
