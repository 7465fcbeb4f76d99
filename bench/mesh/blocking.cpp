// Measures how long a checkpoint of a mesh blocks, and a memcpy of as many bytes in the same process, alternately.
#include <mpi.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <vector>

#include "automatic/follower.hpp"
#include "perdure/perdure_mpi.hpp"
#include "smoothing.hpp"
#include "verbs.hpp"

namespace perdure::mesh_bench {
namespace {

double slowest(double seconds) {
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

void print(const char* name, const std::vector<double>& seconds, const char* end) {
  std::printf("\"%s\": [", name);
  for (std::size_t i = 0; i < seconds.size(); ++i) std::printf("%s%.6e", i == 0 ? "" : ", ", seconds[i]);
  std::printf("]%s", end);
}

/// Copies memory that was touched before.
class Copy {
 public:
  double seconds(std::size_t bytes) {
    from_.resize(bytes, std::byte{1});
    to_.resize(bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    std::memcpy(to_.data(), from_.data(), bytes);
    return slowest(MPI_Wtime() - begin);
  }

 private:
  std::vector<std::byte> from_, to_;
};

}  // namespace

void blocking(const Arguments& arguments) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Handle handle = open_mpi(MPI_COMM_WORLD, places(arguments)).value();
  constexpr std::int64_t kColumns = 1024;
  Smoothing program(kColumns, ranks * (arguments.number("--mib") << 20) / (kColumns * Smoothing::kFields * 8));
  mesh::Policy policy;
  policy.learns = 4 * Smoothing::kLoops;
  auto& protection = mesh::protect(program.on(), handle, policy);
  const auto step = [&] { program.step([] {}); };
  for (int i = 0; i < 5; ++i) step();

  std::vector<double> blocked, copied;
  Copy copy;
  constexpr int kWarmUp = 2;
  for (int round = 0; round < kWarmUp + arguments.number("--checkpoints"); ++round) {
    const std::size_t before = protection.taken().size();
    MPI_Barrier(MPI_COMM_WORLD);
    protection.trigger();
    for (int i = 0; i < 8 && protection.taken().size() == before; ++i) step();
    if (protection.taken().size() == before) throw std::runtime_error("no checkpoint was made");
    handle.wait(policy.name, static_cast<std::int64_t>(protection.taken().size())).value();
    const auto& taken = protection.taken().back();
    const double took = slowest(taken.blocking_s), plain = copy.seconds(taken.bytes / static_cast<unsigned>(ranks));
    if (round < kWarmUp) continue;
    blocked.push_back(took);
    copied.push_back(plain);
  }
  const auto& last = protection.taken().back();
  if (rank == 0) {
    std::printf("{\"ranks\": %d, \"bytes_per_rank\": %" PRIu64 ", \"state_bytes\": %" PRIu64 ", \"foreseen\": %s, ",
                ranks, last.bytes / static_cast<unsigned>(ranks), last.state_bytes, last.foreseen ? "true" : "false");
    print("blocking_s", blocked, ", ");
    print("copy_s", copied, "}\n");
  }
  program.on().follow(nullptr);
  handle.close().value();
}

}  // namespace perdure::mesh_bench
