#include "restoring.hpp"

#include "base/json.hpp"
#include "field.hpp"
#include "plain_read.hpp"
#include "together.hpp"

namespace perdure::elastic_bench {
namespace {

constexpr const char* kName = "field";

base::Result<std::unique_ptr<Job>> open_with(const Restoring& settings, Field& field) {
  PERDURE_TRY(auto job, Job::open(settings.places));
  const perdure_array array = field.declaration();
  PERDURE_CHECK(job->outcome(perdure_protect_block(job->get(), 1, &array, nullptr, field.data()), "protect_block"));
  return job;
}

/// Rank 0 reads while the others sleep. [collective]
base::Result<PlainRead> plainly(const Restoring& settings, const micro::World& world) {
  base::Result<PlainRead> mine = PlainRead{};
  if (world.rank() == 0) mine = read_plainly(settings.places.store_path());
  micro::wait_quietly();
  PERDURE_CHECK(micro::agree(mine ? base::Status{} : base::fail(mine.error())));
  return mine;
}

std::uint64_t sum(std::uint64_t value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return value;
}

base::Status check_field(const Field& field) {
  const std::uint64_t wrong = sum(field.wrong());
  if (wrong == 0) return {};
  return base::fail(PERDURE_CORRUPT, kName, std::to_string(wrong) + " elements are not what was written");
}

}  // namespace

base::Result<base::Json> write(const Restoring& settings, const micro::World& world, bool drained) {
  Field field(settings.extents, world.size(), world.rank());
  field.fill();
  PERDURE_TRY(auto job, open_with(settings, field));
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = bench::now_s();
  const perdure_status done = perdure_checkpoint(job->get(), kName, 1);
  const double seconds = bench::slowest(bench::now_s() - begin);
  PERDURE_CHECK(job->outcome(done, "checkpoint"));
  if (drained) {
    PERDURE_CHECK(job->close());
  } else {
    job->abandon();
  }
  return base::Json{{"ranks", world.size()}, {"bytes", sum(field.bytes())}, {"checkpoint_s", seconds}};
}

base::Result<base::Json> restore(const Restoring& settings, const micro::World& world) {
  Field field(settings.extents, world.size(), world.rank());
  field.wipe();
  // An uncounted read first brings the files into the page cache for both counted ones.
  if (settings.beside_plain_read) PERDURE_CHECK(plainly(settings, world));
  PERDURE_TRY(auto job, open_with(settings, field));
  MPI_Barrier(MPI_COMM_WORLD);
  const std::uint64_t read_before = bytes_read_so_far();
  const double begin = bench::now_s();
  const perdure_status done = perdure_restore(job->get(), kName, 1);
  const double seconds = bench::slowest(bench::now_s() - begin);
  const std::uint64_t read = bytes_read_so_far() - read_before;
  PERDURE_CHECK(job->outcome(done, "restore"));
  PERDURE_CHECK(check_field(field));
  perdure_progress progress{};
  PERDURE_CHECK(job->outcome(perdure_get_progress(job->get(), &progress), "progress"));
  base::Json result{{"ranks", world.size()},
                    {"bytes", sum(field.bytes())},
                    {"restore_s", seconds},
                    {"read_bytes", sum(read)},
                    {"source", progress.restore_source}};
  if (settings.beside_plain_read) {
    PERDURE_TRY(const PlainRead plain, plainly(settings, world));
    result["plain_read_s"] = plain.seconds;
    result["store_bytes"] = plain.bytes;
  }
  job->abandon();
  return result;
}

}  // namespace perdure::elastic_bench
