#include "plain.hpp"

#include <unistd.h>

#include <algorithm>

#include "together.hpp"

namespace perdure::redundancy_bench {
namespace {

/// MPI counts in int.
constexpr std::size_t kMessageBytes = 1U << 30;

}  // namespace

Plain::Plain(const micro::World& world, int ranks_per_node, std::string directory, std::size_t bytes)
    : rank_(world.rank()),
      ranks_(world.size()),
      ranks_per_node_(ranks_per_node),
      directory_(std::move(directory)),
      data_(bytes),
      received_(bytes, 1) {
  bench::fill_random(data_, static_cast<unsigned>(rank_) + 1);
}

base::Result<double> Plain::write() const {
  const std::string path = directory_ + "/plain-" + std::to_string(rank_);
  std::string why;
  bool good = true;
  const double seconds = bench::timed_together([&] { good = bench::write_fresh_file(path, data_, false, why) >= 0; });
  ::unlink(path.c_str());
  PERDURE_CHECK(micro::agree(good ? base::Status{} : base::fail(PERDURE_IO, path, why)));
  return seconds;
}

double Plain::send() {
  const int to = (rank_ + ranks_per_node_) % ranks_, from = (rank_ - ranks_per_node_ % ranks_ + ranks_) % ranks_;
  return bench::timed_together([&] {
    for (std::size_t at = 0; at < data_.size(); at += kMessageBytes) {
      const int bytes = static_cast<int>(std::min(kMessageBytes, data_.size() - at));
      MPI_Sendrecv(data_.data() + at, bytes, MPI_BYTE, to, 1, received_.data() + at, bytes, MPI_BYTE, from, 1,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  });
}

double Plain::copy() {
  return bench::timed_together([&] { bench::copy_to_warm_memory(received_, data_); });
}

}  // namespace perdure::redundancy_bench
