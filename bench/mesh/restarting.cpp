// Measures how long a run computes up to its checkpoint, and how long the next one takes until it computes again. The
// restart skips the loops before the checkpoint, or jumps there at once. Both times begin after MPI's initialisation.
#include <mpi.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <span>

#include "automatic/follower.hpp"
#include "perdure/perdure_mpi.hpp"
#include "smoothing.hpp"
#include "verbs.hpp"

namespace perdure::mesh_bench {

void restarting(const Arguments& arguments) {
  const double begin = MPI_Wtime();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::int64_t steps = arguments.number("--steps"), cells = arguments.number("--cells");
  const bool at_once = arguments.text("--way") == "fast_forward";
  Handle handle = open_mpi(MPI_COMM_WORLD, places(arguments)).value();
  Smoothing program(cells, cells);
  mesh::Policy policy;
  policy.learns = 8 * Smoothing::kLoops;
  auto& protection = mesh::protect(program.on(), handle, policy);
  const double protected_s = MPI_Wtime() - begin;

  double there_s = 0, greatest = 0;  // when the run reached its checkpoint, or computed again
  std::int64_t first = 0;
  for (std::int64_t step = 0; step < steps + 4; ++step) {
    if (at_once) {
      std::int64_t payload = step;
      if (const auto there = protection.fast_forward(std::as_bytes(std::span(&payload, 1))))
        std::memcpy(&step, there->data(), sizeof step);
    }
    if (!protection.restarted() && step == steps) {
      there_s = MPI_Wtime() - begin;
      first = step;
      protection.trigger();
    }
    program.step([&] {
      if (there_s > 0 || !protection.restarted() || protection.knows_answer()) return;
      there_s = MPI_Wtime() - begin;
      first = step;
    });
    greatest = program.greatest();
  }
  if (rank == 0)
    std::printf("{\"restarted\": %s, \"step\": %" PRId64
                ", \"seconds\": %.6e, \"protected_s\": %.6e, \"loops\": %" PRIu64
                ", \"greatest\": %.17g, "
                "\"checkpoints\": %zu}\n",
                protection.restarted() ? "true" : "false", first, there_s, protected_s,
                protection.restarted() ? protection.goes_on_at() : protection.taken().front().loop, greatest,
                protection.taken().size());
  program.on().follow(nullptr);
  handle.close().value();
}

}  // namespace perdure::mesh_bench
