// Solves the heat equation by Jacobi iteration with halo exchange, protected through the C++ veneer. Its twin heat2d.c
// describes the problem; numerics, order of operations and final bits are the same.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <utility>
#include <vector>

#include "app.h"
#include "perdure/perdure_mpi.hpp"

namespace {

class Plate {
 public:
  explicit Plate(app_t* app)
      : height_(app_integer(app, "height", 256)),
        rows_(size(app_share(height_, app_ranks(app), app_rank(app)))),
        line_(size(app_integer(app, "width", 256)) + 2),
        first_(app_first(height_, app_ranks(app), app_rank(app))),
        above_(app_rank(app) > 0 ? app_rank(app) - 1 : MPI_PROC_NULL),
        below_(app_rank(app) + 1 < app_ranks(app) ? app_rank(app) + 1 : MPI_PROC_NULL),
        now_((rows_ + 2) * line_, 0.0) {
    if (app_rank(app) == 0) std::fill_n(now_.begin(), line_, 1.0);
    next_ = now_;
  }

  std::int64_t step() const { return step_; }

  void advance() {
    exchange_halo();
    for (std::size_t i = 1; i <= rows_; ++i) {
      const double* row = now_.data() + i * line_;
      const double *above = row - line_, *below = row + line_;
      double* out = next_.data() + i * line_;
      for (std::size_t j = 1; j + 1 < line_; ++j) {
        out[j] = 0.25 * ((above[j] + below[j]) + (row[j - 1] + row[j + 1]));
      }
    }
    std::swap(now_, next_);
    ++step_;
  }

  /// Protects this rank's rows as a part of the plate, so that a run may resume on another number of ranks. Halo and
  /// frame lie between the rows in memory and are not stored. The two vectors alternate as the state, so the current
  /// one is protected anew each time.
  void protect(perdure::Handle& handle) {
    const std::size_t width = line_ - 2;
    perdure::Array temperature{"temperature", perdure::indices(height_, width)};
    temperature.unit = "1";
    temperature.description = "of the plate, without its frame; the upper edge is at 1";
    const perdure::View<double, 2> all(now_, {rows_ + 2, line_});
    const perdure::Box cells(perdure::indices(first_, 0), all.part({1, 1}, {rows_, width}));
    handle.protect_global(0, temperature, cells).value();
    handle.protect_replicated(1, "step", step_).value();
  }

  void hash(app_t* app) const { app_hash(app, now_.data() + line_, rows_ * line_ * sizeof(double)); }

 private:
  static std::size_t size(long number) { return static_cast<std::size_t>(number); }

  void exchange_halo() {
    double* first = now_.data() + line_;
    double* last = now_.data() + rows_ * line_;
    const int count = static_cast<int>(line_);
    MPI_Sendrecv(first, count, MPI_DOUBLE, above_, 1, last + line_, count, MPI_DOUBLE, below_, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(last, count, MPI_DOUBLE, below_, 2, now_.data(), count, MPI_DOUBLE, above_, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }

  long height_;              ///< rows of the plate
  std::size_t rows_, line_;  ///< of this rank without halo; cells of a row with its frame
  long first_;               ///< this rank's first row in the plate
  int above_, below_;        ///< neighbours, or MPI_PROC_NULL
  std::vector<double> now_, next_;
  std::int64_t step_ = 0;
};

template <class T>
perdure_status code_of(const perdure::Result<T>& result) {
  return result ? PERDURE_OK : result.error().code;
}

perdure::Handle open_and_restore(app_t* app, Plate& plate) {
  auto handle = perdure::open_mpi(MPI_COMM_WORLD).value();
  plate.protect(handle);
  app_restored(app, handle.native(), code_of(handle.restore("heat2d")));
  return handle;
}

void checkpoint(app_t* app, perdure::Handle& handle, Plate& plate) {
  const double begin = MPI_Wtime();
  plate.protect(handle);
  const auto status = code_of(handle.checkpoint("heat2d", plate.step()));
  app_checkpointed(app, handle.native(), status, static_cast<long>(plate.step()), MPI_Wtime() - begin);
}

void simulate(app_t* app) {
  const long steps = app_integer(app, "steps", 100);
  Plate plate(app);
  perdure::Handle handle;
  if (app_checkpoints(app)) handle = open_and_restore(app, plate);
  while (plate.step() < steps) {
    app_step(app, static_cast<long>(plate.step()), steps);
    plate.advance();
    if (app_checkpoint_due(app, static_cast<long>(plate.step()))) checkpoint(app, handle, plate);
  }
  plate.hash(app);
  app_end(app, handle.native());
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    simulate(app_begin("heat2d", argc, argv));
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "heat2d: %s\n", failure.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
