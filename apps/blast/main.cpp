// Computes a blast with tracked regions (perdure_track.h) around its loops, like other users' programs.
//
//     blast [--steps N] [--rows N] [--columns N] [--checkpoint-loops N] [--undeclared]
//
// It declares what each loop reads and writes, and Perdure finds what a checkpoint needs. Bits do not depend on the
// number of ranks.
#include <mpi.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "hydro.hpp"
#include "perdure/perdure_mpi.h"
#include "perdure/perdure_track.h"

namespace {

using namespace blast;

struct Arguments {
  std::int64_t steps = 150, rows = 24, columns = 20;
  std::uint64_t checkpoint_loops = 0;  ///< 0: no checkpoints
  bool undeclared = false;             ///< one region does not declare that it reads the velocity field
};

constexpr int kPeaks = 1000;  // one for every fifth step

[[noreturn]] void refuse(const std::string& why) {
  std::fprintf(stderr, "blast: %s\n", why.c_str());
  MPI_Abort(MPI_COMM_WORLD, 2);
  std::exit(2);
}

Arguments parsed(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--undeclared") {
      arguments.undeclared = true;
      continue;
    }
    if (word == "--reproducible") continue;  // it always is
    const long long value = i + 1 < argc ? std::atoll(argv[++i]) : 0;
    if (value < 1) refuse(word + " needs a number");
    if (word == "--steps")
      arguments.steps = value;
    else if (word == "--rows")
      arguments.rows = value;
    else if (word == "--columns")
      arguments.columns = value;
    else if (word == "--checkpoint-loops")
      arguments.checkpoint_loops = static_cast<std::uint64_t>(value);
    else if (word != "--threads" || value != 1)
      refuse(word + " " + std::to_string(value) + ": there is no such option");
  }
  return arguments;
}

/// Tracks the fields of a state; without checkpoints it tracks nothing.
class Tracked {
 public:
  Tracked(const Grid& grid, State& state, double* peaks, std::uint64_t every) : grid_(grid) {
    if (every == 0) return;
    char message[1024] = "";
    if (perdure_open_mpi(MPI_COMM_WORLD, nullptr, &handle_, message, sizeof message) != PERDURE_OK) refuse(message);
    perdure_track_policy policy{};
    policy.name = "blast";
    policy.every_regions = every;
    policy.learns = 64;
    if (perdure_track_open(handle_, &policy, &track, message, sizeof message) != PERDURE_OK) refuse(message);
    x = field("x", grid.nodes(), state.x), y = field("y", grid.nodes(), state.y);
    x_next = field("x_next", grid.nodes(), state.x_next), y_next = field("y_next", grid.nodes(), state.y_next);
    u = field("u", grid.nodes(), state.u), v = field("v", grid.nodes(), state.v);
    force_x = field("force_x", grid.nodes(), state.force_x), force_y = field("force_y", grid.nodes(), state.force_y);
    node_mass = field("node_mass", grid.nodes(), state.node_mass);
    energy = field("energy", grid.elements(), state.energy);
    energy_next = field("energy_next", grid.elements(), state.energy_next);
    volume = field("volume", grid.elements(), state.volume);
    volume_next = field("volume_next", grid.elements(), state.volume_next);
    pressure = field("pressure", grid.elements(), state.pressure);
    viscosity = field("viscosity", grid.elements(), state.viscosity);
    mass = field("mass", grid.elements(), state.mass);
    const std::uint64_t count = kPeaks;
    const perdure_array array{"peaks", "f8", 1, &count, nullptr, 0, nullptr, nullptr};
    must(perdure_track_replicated(track, &array, peaks, &all_peaks));
    must(perdure_track_start(track));
  }
  void swap(int one, int other) const {
    if (track != nullptr) must(perdure_track_swap(track, one, other));
  }
  void tick() const {
    if (track != nullptr) must(perdure_track_tick(track));
  }
  perdure_track_info info() const {
    perdure_track_info info{};
    if (track != nullptr) must(perdure_track_get_info(track, &info));
    return info;
  }
  void close() {
    char message[1024] = "";
    if (track != nullptr && perdure_track_close(&track, message, sizeof message) != PERDURE_OK) refuse(message);
    if (handle_ != nullptr) (void)perdure_close(&handle_);
  }
  perdure_track_t* track = nullptr;
  int x = 0, y = 0, x_next = 0, y_next = 0, u = 0, v = 0, force_x = 0, force_y = 0, node_mass = 0, energy = 0;
  int energy_next = 0, volume = 0, volume_next = 0, pressure = 0, viscosity = 0, mass = 0, all_peaks = 0;

 private:
  void must(perdure_status status) const {
    if (status != PERDURE_OK) refuse(perdure_track_error_text(track));
  }
  // Declares the rows that this rank owns; the last rank has one more row of nodes than of elements.
  int field(const char* name, const Rows& rows, Field& values) const {
    const bool nodes = &rows == &grid_.nodes();
    const auto all = static_cast<std::uint64_t>(all_rows() + (nodes ? 1 : 0));
    const std::uint64_t extents[2] = {all, static_cast<std::uint64_t>(rows.columns)};
    const std::uint64_t begin[2] = {static_cast<std::uint64_t>(rows.first), 0};
    const std::uint64_t end[2] = {static_cast<std::uint64_t>(rows.end), extents[1]};
    const perdure_array array{name, "f8", 2, extents, nullptr, 0, nullptr, nullptr};
    const perdure_box box{values.data() + rows.columns, begin, end, nullptr};
    int number = 0;
    must(perdure_track_array(track, &array, &box, rows.first < rows.end ? 1 : 0, &number));
    return number;
  }
  std::int64_t all_rows() const {
    std::int64_t last = grid_.elements().end;
    MPI_Allreduce(MPI_IN_PLACE, &last, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return last;
  }
  const Grid& grid_;
  perdure_t* handle_ = nullptr;
};

/// Computes one time step; returns the length of the next one.
double advance(const Hydro& hydro, State& s, const Tracked& t, double dt, bool undeclared) {
  PERDURE_TRACK_REGION(t.track, "forces", perdure_reads(t.x), perdure_reads(t.y), perdure_reads(t.pressure),
                       perdure_reads(t.viscosity), perdure_writes(t.force_x), perdure_writes(t.force_y)) {
    hydro.forces(s);
  }
  const perdure_access of_v = undeclared ? perdure_reads(t.u) : perdure_reads_writes(t.v);
  PERDURE_TRACK_REGION(t.track, "move", perdure_reads(t.force_x), perdure_reads(t.force_y), perdure_reads(t.node_mass),
                       perdure_reads(t.x), perdure_reads(t.y), perdure_reads_writes(t.u), of_v,
                       perdure_writes(t.x_next), perdure_writes(t.y_next)) {
    hydro.move(s, dt);
  }
  std::swap(s.x, s.x_next), t.swap(t.x, t.x_next);
  std::swap(s.y, s.y_next), t.swap(t.y, t.y_next);
  PERDURE_TRACK_REGION(t.track, "volumes", perdure_reads(t.x), perdure_reads(t.y), perdure_writes(t.volume_next)) {
    hydro.volumes(s);
  }
  PERDURE_TRACK_REGION(t.track, "work", perdure_reads(t.energy), perdure_reads(t.pressure), perdure_reads(t.viscosity),
                       perdure_reads(t.volume), perdure_reads(t.volume_next), perdure_reads(t.mass),
                       perdure_writes(t.energy_next)) {
    hydro.work(s);
  }
  std::swap(s.volume, s.volume_next), t.swap(t.volume, t.volume_next);
  std::swap(s.energy, s.energy_next), t.swap(t.energy, t.energy_next);
  PERDURE_TRACK_REGION(t.track, "pressures", perdure_reads(t.energy), perdure_reads(t.volume),
                       perdure_reads(t.volume_next), perdure_reads(t.mass), perdure_writes(t.pressure),
                       perdure_writes(t.viscosity)) {
    hydro.pressures(s, dt);
  }
  double next = dt;
  PERDURE_TRACK_REGION(t.track, "time step", perdure_reads(t.pressure), perdure_reads(t.viscosity),
                       perdure_reads(t.volume), perdure_reads(t.mass), perdure_gives(&next, sizeof next)) {
    next = hydro.time_step(s);
  }
  return next;
}

int run(const Arguments& arguments, int rank, int ranks) {
  if (arguments.rows < ranks || arguments.columns < 2) refuse("there are fewer rows than ranks");
  const Grid grid(arguments.rows, arguments.columns, rank, ranks);
  const Hydro hydro(grid, MPI_COMM_WORLD);
  State state(grid);
  hydro.initialise(state);
  std::vector<double> peaks(kPeaks);
  Tracked tracked(grid, state, peaks.data(), arguments.checkpoint_loops);
  if (rank == 0 && tracked.info().restarted != 0)
    std::printf(" It goes on from the checkpoint before region %" PRIu64 "\n", tracked.info().goes_on_at);
  double dt = 1e-4, time = 0;
  for (std::int64_t step = 0; step < arguments.steps; ++step) {
    time += dt;
    const double next = advance(hydro, state, tracked, dt, arguments.undeclared);
    dt = std::min(next, 1.1 * dt);
    if (step % 5 == 0) {
      PERDURE_TRACK_REGION(tracked.track, "peak", perdure_reads(tracked.pressure),
                           perdure_reads_writes(tracked.all_peaks)) {
        peaks[static_cast<std::size_t>(step / 5 % kPeaks)] = hydro.greatest_pressure(state);
      }
    }
    tracked.tick();
    if (rank == 0) std::printf(" Step %6" PRId64 " time %.9f timestep %.3e\n", step + 1, time, dt);
  }
  const perdure_track_info info = tracked.info();
  tracked.close();
  std::uint64_t hash = hydro.hash(state), table = 0;
  for (const double peak : peaks) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &peak, sizeof bits);
    table = table * 31 + bits;
  }
  if (rank != 0) return 0;
  if (arguments.checkpoint_loops > 0)
    std::printf(" Checkpoints: %" PRIu64 ", of %" PRIu64 " of %" PRIu64 " bytes, before '%s'\n", info.checkpoints,
                info.last_bytes, info.state_bytes, info.last_before);
  std::printf("time %.17g, peak %.17g\nfinal state hash: %016" PRIx64 "\n", time, peaks[0], hash ^ table);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // users see each step as soon as it is done
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int status = run(parsed(argc, argv), rank, ranks);
  MPI_Finalize();
  return status;
}
