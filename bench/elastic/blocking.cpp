#include "blocking.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "statistics.hpp"
#include "together.hpp"

namespace perdure::elastic_bench {
namespace {

constexpr std::uint64_t kGhosts = 1;

/// A rank's rows with ghosts around them, cut into strips.
class Strips {
 public:
  Strips(std::uint64_t bytes, std::uint64_t boxes, const micro::World& world) : boxes_(boxes) {
    const std::uint64_t elements = std::max<std::uint64_t>(bytes / sizeof(double), boxes);
    columns_ = std::clamp<std::uint64_t>(elements / boxes, 1, 1024);
    rows_ = std::max<std::uint64_t>(elements / columns_, boxes);
    first_ = rows_ * static_cast<std::uint64_t>(world.rank());
    extents_[0] = rows_ * static_cast<std::uint64_t>(world.size());
    extents_[1] = columns_;
    values_.resize((rows_ + 2 * kGhosts) * (columns_ + 2 * kGhosts));
  }
  std::uint64_t bytes() const { return rows_ * columns_ * sizeof(double); }
  std::vector<double>& values() { return values_; }
  perdure_status protect(perdure_t* handle) {
    const std::uint64_t stride = columns_ + 2 * kGhosts;
    const std::int64_t strides[2] = {static_cast<std::int64_t>(stride * sizeof(double)), sizeof(double)};
    std::vector<std::array<std::uint64_t, 4>> bounds(boxes_);
    std::vector<perdure_box> boxes;
    for (std::uint64_t i = 0; i < boxes_; ++i) {
      const std::uint64_t begin = rows_ * i / boxes_, end = rows_ * (i + 1) / boxes_;
      bounds[i] = {first_ + begin, 0, first_ + end, columns_};
      boxes.push_back(
          {&values_[(begin + kGhosts) * stride + kGhosts], bounds[i].data(), bounds[i].data() + 2, strides});
    }
    perdure_array array{};
    array.name = "field";
    array.type = "f8";
    array.dimensions = 2;
    array.extents = extents_;
    return perdure_protect_global(handle, 1, &array, boxes.data(), boxes.size());
  }

 private:
  std::uint64_t boxes_, columns_ = 0, rows_ = 0, first_ = 0, extents_[2] = {};
  std::vector<double> values_;
};

/// One of the two sides, with its own job, so that no declaration changes while they alternate.
struct Side {
  const char* name;
  std::unique_ptr<Job> job;
  std::vector<double>* values;
  std::vector<double> seconds;

  /// Returns the call's time on the slowest rank; waits for the store before the next call. [collective]
  base::Status checkpoint(std::int64_t version, bool counts) {
    for (double& value : *values) value += static_cast<double>(version);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = bench::now_s();
    const perdure_status done = perdure_checkpoint(job->get(), name, version);
    const double took = bench::slowest(bench::now_s() - begin);
    PERDURE_CHECK(job->outcome(done, "checkpoint"));
    if (counts) seconds.push_back(took);
    return job->outcome(perdure_wait(job->get(), name, version, PERDURE_LEVEL_STORE, PERDURE_FOREVER), "wait");
  }
};

base::Json to_json(const Blocking& settings, std::uint64_t bytes, const Side& local, const Side& global) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < local.seconds.size(); ++i) ratios.push_back(global.seconds[i] / local.seconds[i]);
  return {{"bytes_per_rank", bytes},
          {"boxes", settings.boxes},
          {"local_s", bench::median(local.seconds)},
          {"global_s", bench::median(global.seconds)},
          {"ratio_of_medians", bench::median(global.seconds) / bench::median(local.seconds)},
          {"median_of_ratios", bench::median(ratios)},
          {"all_local_s", local.seconds},
          {"all_global_s", global.seconds}};
}

}  // namespace

base::Result<base::Json> blocking(const Blocking& settings, const micro::World& world) {
  Strips strips(settings.bytes, settings.boxes, world);
  std::vector<double> own(strips.bytes() / sizeof(double));
  Side local{"local", nullptr, &own, {}}, global{"global", nullptr, &strips.values(), {}};
  for (Side* side : {&local, &global}) {
    PERDURE_TRY(side->job, Job::open(settings.places));
  }
  PERDURE_CHECK(
      local.job->outcome(perdure_protect(local.job->get(), 1, own.data(), sizeof(double), own.size()), "protect"));
  PERDURE_CHECK(global.job->outcome(strips.protect(global.job->get()), "protect_global"));
  for (int version = 0; version <= settings.repetitions; ++version) {
    Side* sides[2] = {&local, &global};
    if (version % 2 == 1) std::swap(sides[0], sides[1]);
    for (Side* side : sides) PERDURE_CHECK(side->checkpoint(version, version > 0));
  }
  for (const Side* side : {&local, &global}) PERDURE_CHECK(side->job->close());
  return to_json(settings, strips.bytes(), local, global);
}

}  // namespace perdure::elastic_bench
