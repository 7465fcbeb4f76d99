#include "link_sweep.hpp"

#include <algorithm>
#include <cstdio>

#include "statistics.hpp"
#include "together.hpp"

namespace perdure::mpi_link {
namespace {

using micro::Measured;
using micro::Series;

/// All repetitions of all sizes, one after the other.
using Times = std::vector<double>;

base::Status measure_pair(const LinkSweep& sweep, int rank, int peer, MPI_Comm busy, Times& times) {
  End end(rank, peer, sweep.common.max_bytes);
  base::Status status;
  times.clear();
  for (const std::uint64_t bytes : sweep.common.sizes())
    for (int repetition = 0; repetition <= sweep.common.repetitions; ++repetition) {
      MPI_Barrier(busy);  // so that the pairs of a round are at the same size
      double seconds = end.measure(sweep.pattern, bytes, sweep.iterations_of(bytes));
      if (repetition == 0) {
        if (status) status = end.verify(bytes);
        continue;
      }
      double of_peer = 0;
      MPI_Sendrecv(&seconds, 1, MPI_DOUBLE, peer, 2, &of_peer, 1, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      times.push_back(std::max(seconds, of_peer));
    }
  return status;
}

// Returns the times of every rank on rank 0.
std::vector<Times> gather_times(const LinkSweep& sweep, const micro::World& world, Times own) {
  const std::size_t each = sweep.common.sizes().size() * static_cast<std::size_t>(sweep.common.repetitions);
  own.resize(each);
  Times all(each * static_cast<std::size_t>(world.size()));
  MPI_Gather(own.data(), static_cast<int>(each), MPI_DOUBLE, all.data(), static_cast<int>(each), MPI_DOUBLE, 0,
             MPI_COMM_WORLD);
  std::vector<Times> by_rank;
  for (auto begin = all.begin(); begin != all.end(); begin += static_cast<std::ptrdiff_t>(each))
    by_rank.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(each));
  return by_rank;
}

Series empty_series(const LinkSweep& sweep) {
  Series series;
  series.benchmark = sweep.benchmark;
  series.mode = sweep.mode;
  series.model = bench::Model::time;
  series.mtu_bytes = sweep.mtu_bytes;
  return series;
}

Series series_of(const LinkSweep& sweep, const Pair& pair, const Times& times) {
  Series series = empty_series(sweep);
  series.more = {{"from", pair.first}, {"to", pair.second}};
  auto next = times.begin();
  for (const std::uint64_t bytes : sweep.common.sizes()) {
    const auto end = next + sweep.common.repetitions;
    series.sizes.push_back(
        {bytes, static_cast<double>(bytes), {next, end}, {{"iterations", sweep.iterations_of(bytes)}}});
    next = end;
  }
  return series;
}

// The pairs' medians take the place of repetitions: their extremes are the best and the worst link.
void add_all_pairs(const LinkSweep& sweep, const std::vector<Series>& pairs, micro::Results& results) {
  Series all = empty_series(sweep);
  all.mode += ", medians of all pairs";
  for (std::size_t size = 0; size < pairs.front().sizes.size(); ++size) {
    Measured measured = pairs.front().sizes[size];
    measured.seconds.clear();
    for (const Series& pair : pairs) measured.seconds.push_back(bench::median(pair.sizes[size].seconds));
    all.sizes.push_back(measured);
  }
  results.add(all);
  const auto slowest = std::max_element(pairs.begin(), pairs.end(), [](const Series& a, const Series& b) {
    return bench::median(a.sizes.back().seconds) < bench::median(b.sizes.back().seconds);
  });
  const bench::Spread times = bench::spread(all.sizes.back().seconds);
  char text[160];
  std::snprintf(text, sizeof text,
                "the slowest link takes %.2f times the median for the largest size: ", times.max / times.median);
  results.note("slowest_link", {{"link", slowest->more}, {"time_over_median", times.max / times.median}},
               text + slowest->name());
}

}  // namespace

int LinkSweep::iterations_of(std::uint64_t bytes) const {
  const std::uint64_t affordable = std::max<std::uint64_t>(volume_bytes / std::max<std::uint64_t>(bytes, 1), 1);
  return static_cast<int>(std::min<std::uint64_t>(affordable, static_cast<std::uint64_t>(iterations)));
}

base::Status measure(const LinkSweep& sweep, const micro::World& world, micro::Results& results) {
  micro::Progress progress(world, sweep.rounds.size());
  std::vector<Series> pairs;
  for (const Round& round : sweep.rounds) {
    const int peer = peer_of(world.rank(), round);
    const micro::Group busy(MPI_COMM_WORLD, peer < 0 ? -1 : 0, world.rank());
    Times times;
    base::Status status;
    if (peer >= 0) status = measure_pair(sweep, world.rank(), peer, busy.get(), times);
    micro::wait_quietly();
    PERDURE_CHECK(micro::agree(status));
    const std::vector<Times> by_rank = gather_times(sweep, world, std::move(times));
    for (const Pair& pair : round)
      pairs.push_back(series_of(sweep, pair, by_rank[static_cast<std::size_t>(pair.first)]));
    progress.step();
  }
  for (const Series& series : pairs) results.add(series);
  if (pairs.size() > 1) add_all_pairs(sweep, pairs, results);
  return {};
}

}  // namespace perdure::mpi_link
