#include "disturbed.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "statistics.hpp"
#include "together.hpp"

namespace perdure::bench {
namespace {

constexpr const char *kLarge = "large", *kSmall = "small";
constexpr std::uint64_t kColumns = 1024;

std::uint64_t rows_of(std::size_t grid_bytes) {
  return std::max<std::uint64_t>(4, grid_bytes / (2 * sizeof(double) * kColumns));
}

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "interference: %s\n", what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::exit(1);
}

}  // namespace

Disturbed::Disturbed(const Interference& settings, const std::string& grid, std::size_t grid_bytes,
                     const micro::World& world)
    : settings_(settings),
      grid_(grid),
      world_(world),
      lattice_(rows_of(grid_bytes), kColumns, world),
      memory_(settings.bytes / static_cast<std::size_t>(world.size())) {
  fill_random(memory_, static_cast<unsigned>(world.rank()) + 1);
  open();
  calibrate();
}

Disturbed::~Disturbed() { perdure_close(&handle_); }

void Disturbed::open() {
  char message[1024];
  const std::string options =
      "store.path=" + settings_.store + "/" + grid_ + ";tier.order=memory;retention.keep_last=1;engine.mode=embedded" +
      ";job=" + std::filesystem::path(settings_.store).filename().string() + "-" + grid_ +
      ";store.direct=" + (settings_.direct ? "true" : "false") +
      (settings_.max_slowdown > 0 ? ";flush.max_slowdown=" + std::to_string(settings_.max_slowdown) : "") +
      (settings_.more.empty() ? "" : ";" + settings_.more);
  if (perdure_open_mpi(MPI_COMM_WORLD, options.c_str(), &handle_, message, sizeof message) != PERDURE_OK)
    give_up(message);
}

void Disturbed::check(perdure_status status, const char* call) const {
  if (status != PERDURE_OK) give_up(std::string(call) + ": " + perdure_error_text(handle_));
}

/// All ranks use the answer of rank 0's node.
bool Disturbed::stored(const char* name, std::int64_t version) const {
  int known = 0;
  if (world_.rank() == 0) {
    perdure_level level = PERDURE_LEVEL_NONE;
    check(perdure_level_reached(handle_, name, version, &level), "level");
    known = level == PERDURE_LEVEL_STORE ? 1 : 0;
  }
  MPI_Bcast(&known, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return known != 0;
}

double Disturbed::batch() {
  const double begin = now_s();
  for (int i = 0; i < steps_; ++i) lattice_.step();
  return slowest(now_s() - begin);
}

// The fastest of a few tries counts.
void Disturbed::calibrate() {
  double step = 1e9;
  for (int i = 0; i < 10; ++i) step = std::min(step, batch());
  steps_ = std::max(1, static_cast<int>(settings_.batch_s / step));
  batches_ = std::max(1, static_cast<int>(settings_.seconds / (step * steps_)));
}

void Disturbed::checkpoint(bool large) {
  check(perdure_protect(handle_, 1, memory_.data(), 1,
                        large ? memory_.size() : std::min<std::size_t>(4096, memory_.size())),
        "protect");
  if (!large) return check(perdure_checkpoint(handle_, kSmall, ++small_), "checkpoint");
  flush_ = {.version = flush_.version + 1, .runs = true};
  check(perdure_checkpoint(handle_, kLarge, flush_.version), "checkpoint");
  flush_.begin = now_s();
}

/// Called at the end of a batch that began beside the flush.
void Disturbed::look_at_flush(double seconds) {
  flush_.runs = !stored(kLarge, flush_.version);
  if (!flush_.runs) {
    flush_.seconds = now_s() - flush_.begin;
    return;
  }
  flush_.disturbed_s += seconds;
  ++flush_.batches;
}

// A batch counts if the flush ran at its begin and at its end, or no flush at either.
void Disturbed::turn(bool large) {
  checkpoint(large);
  bool small_runs = !large;
  for (int i = 0; i < batches_; ++i) {
    const bool was_alone = !large && !flush_.runs && !small_runs;
    const double seconds = batch();
    if (small_runs) small_runs = !stored(kSmall, small_);
    if (was_alone) undisturbed_.push_back(seconds);
    if (flush_.runs) look_at_flush(seconds);
  }
}

// A flush with a small slowdown limit may take minutes.
void Disturbed::end_long_flush() {
  check(perdure_wait(handle_, kLarge, flush_.version, PERDURE_LEVEL_STORE, PERDURE_FOREVER), "wait");
  flush_.runs = false;
  flush_.seconds = now_s() - flush_.begin;
}

/// Returns the seconds of a batch without a flush.
double Disturbed::alone() {
  undisturbed_.clear();
  do {
    turn(false);
    if (flush_.runs && slowest(now_s() - flush_.begin) > settings_.longest_s) end_long_flush();
  } while (flush_.runs || undisturbed_.empty());
  return median(undisturbed_);
}

nlohmann::json Disturbed::run() {
  nlohmann::json undisturbed_s = nlohmann::json::array();
  nlohmann::json disturbed_s = undisturbed_s, flush_s = undisturbed_s, lost_s = undisturbed_s;
  double before = alone();
  for (int i = 0; i < settings_.before + settings_.turns; ++i) {
    turn(true);
    const double after = alone(), between = (before + after) / 2;
    before = after;
    if (i < settings_.before || flush_.batches == 0) continue;  // warms up, or ended before the first look
    undisturbed_s.push_back(between / steps_);
    disturbed_s.push_back(flush_.disturbed_s / flush_.batches / steps_);
    flush_s.push_back(flush_.seconds);
    lost_s.push_back(flush_.disturbed_s - between * flush_.batches);
  }
  return {{"grid", grid_},
          {"steps_in_batch", steps_},
          {"batches_in_turn", batches_},
          {"undisturbed_s", undisturbed_s},
          {"disturbed_s", disturbed_s},
          {"flush_s", flush_s},
          {"lost_s", lost_s}};
}

nlohmann::json disturbed(const Interference& settings, const micro::World& world) {
  nlohmann::json result = {{"benchmark", "interference"},
                           {"direct", settings.direct},
                           {"max_slowdown", settings.max_slowdown},
                           {"ranks", world.size()},
                           {"bytes", settings.bytes},
                           {"turns", settings.turns},
                           {"grid_bytes", {{"memory", settings.memory_grid}, {"cache", settings.cache_grid}}},
                           {"cells", nlohmann::json::array()}};
  for (const auto& [grid, bytes] : {std::pair{"memory", settings.memory_grid}, {"cache", settings.cache_grid}})
    result["cells"].push_back(Disturbed(settings, grid, bytes, world).run());
  return result;
}

}  // namespace perdure::bench
