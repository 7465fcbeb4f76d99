#include "measurement.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "together.hpp"

namespace perdure::bench {
namespace {

// Does what timed_together does, by each rank's own clock: the work is so short that another barrier would count.
template <class Work>
double timed(Work work) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now_s();
  work();
  return slowest(now_s() - begin);
}

const char* name_of(perdure_level level) {
  switch (level) {
    case PERDURE_LEVEL_NONE:
      return "none";
    case PERDURE_LEVEL_PROCESS:
      return "process";
    case PERDURE_LEVEL_NODE:
      return "node";
    case PERDURE_LEVEL_STORE:
      return "store";
  }
  return "unknown";
}

}  // namespace

void give_up(const std::string& what) {
  std::fprintf(stderr, "async_checkpoint: %s\n", what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::exit(1);
}

Bench::Bench(const Arguments& arguments, int rank)
    : arguments_(arguments), rank_(rank), source_(arguments.bytes), warm_(arguments.bytes, 1) {
  fill_random(source_, static_cast<unsigned>(rank) + 1);
  before_bytes_ = most_bytes_ = anonymous_memory_bytes();
}

void Bench::run(Samples& samples, Context& context) {
  open();
  for (int repetition = 0; repetition <= arguments_.repetitions; ++repetition) {
    Samples warm_up;
    measure(repetition, repetition == 0 ? warm_up : samples, context);
    if (rank_ == 0) show_progress(repetition, arguments_.repetitions);
  }
  unsigned long long own = most_bytes_ - before_bytes_;
  MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
  context.own_memory_bytes = own;
  empty_checkpoints(samples);
  check(perdure_close(&handle_), "close");
}

void Bench::open() {
  char message[1024];
  const std::string options = "store.path=" + arguments_.store + ";tier.order=" + arguments_.tiers +
                              ";engine.mode=" + arguments_.mode + ";chunk_bytes=" + arguments_.chunk +
                              ";capture.mode=" + arguments_.capture + ";job=" + arguments_.job + ";engine.idle_exit=1" +
                              (arguments_.more.empty() ? "" : ";" + arguments_.more);
  if (perdure_open_mpi(MPI_COMM_WORLD, options.c_str(), &handle_, message, sizeof message) != PERDURE_OK)
    give_up(message);
  check(perdure_protect(handle_, 1, source_.data(), 1, source_.size()), "protect");
  // A kept store may hold versions of an earlier run.
  for (const char* name : {"bench", "empty"}) {
    std::int64_t newest = -1;
    const perdure_status status = perdure_latest(handle_, name, &newest);
    if (status != PERDURE_NOT_FOUND) check(status, "latest");
    first_version_ = std::max(first_version_, newest + 1);
  }
}

void Bench::check(perdure_status status, const char* call) const {
  if (status != PERDURE_OK) give_up(std::string(call) + ": " + perdure_error_text(handle_));
}

void Bench::measure(int repetition, Samples& samples, Context& context) {
  fill_random(source_, static_cast<unsigned>(1000 * repetition + rank_) + 1);
  // After the pause, the first write to the store is the reference in one half of the repetitions, and the flush in the
  // other.
  std::this_thread::sleep_for(std::chrono::duration<double>(arguments_.pause_s));
  samples.fresh_write.push_back(write_reference("/dev/shm/perdure-bench-", false));
  // Each reference runs next to the measurement that it is compared with; the store's alternates between before and
  // after the flush.
  if (repetition % 2 == 0) samples.store_write.push_back(write_reference(arguments_.store + "/.reference-", true));
  samples.memcpy.push_back(timed_together([&] { copy_to_warm_memory(warm_, source_); }));
  if (repetition % 2 == 0) samples.around_nothing.push_back(timed_together([] {}));
  checkpoint(repetition, samples, context);
  if (repetition % 2 == 1) samples.around_nothing.push_back(timed_together([] {}));
  if (repetition % 2 == 1) samples.store_write.push_back(write_reference(arguments_.store + "/.reference-", true));
  restore(repetition, samples);
  note_memory();
}

double Bench::write_reference(const std::string& prefix, bool sync) {
  const std::string path = prefix + std::to_string(rank_) + "-" + std::to_string(::getpid());
  std::string why;
  bool good = true;
  const double seconds = timed_together([&] { good = write_fresh_file(path, source_, sync, why) >= 0; });
  ::unlink(path.c_str());
  if (!good) give_up(why);
  return seconds;
}

void Bench::checkpoint(int repetition, Samples& samples, Context& context) {
  const std::int64_t version = first_version_ + repetition;
  double captured = 0;
  long faults = minor_faults();
  const double blocking = timed_together([&] {
    check(perdure_checkpoint(handle_, "bench", version), "checkpoint");
    captured = now_s();
    faults = minor_faults() - faults;
  });
  if (repetition == 0) note_first(blocking, faults, context);
  check(perdure_wait(handle_, "bench", version, PERDURE_LEVEL_STORE, PERDURE_FOREVER), "wait");
  const double flush = slowest(now_s() - captured);
  note_memory();
  samples.blocking.push_back(blocking);
  samples.flush.push_back(flush);
  samples.total.push_back(blocking + flush);
}

void Bench::note_first(double blocking, long faults, Context& context) {
  perdure_level level = PERDURE_LEVEL_NONE;
  check(perdure_level_reached(handle_, "bench", first_version_, &level), "level");
  context.first_level = name_of(level);
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
  context.first_blocking_s = blocking;
  context.first_faults = faults;
}

void Bench::restore(int repetition, Samples& samples) {
  const std::vector<char>& expected = warm_;  // the memcpy above left a copy there
  std::fill(source_.begin(), source_.end(), '\0');
  samples.restore.push_back(
      timed_together([&] { check(perdure_restore(handle_, "bench", first_version_ + repetition), "restore"); }));
  if (source_ != expected) give_up("what was restored differs from what was captured");
}

void Bench::empty_checkpoints(Samples& samples) {
  check(perdure_unprotect(handle_, 1), "unprotect");
  for (int i = 0; i <= arguments_.repetitions; ++i) {
    const double empty =
        timed([&] { check(perdure_checkpoint(handle_, "empty", first_version_ + i), "empty checkpoint"); });
    const double barriers = timed([&] {  // as many exchanges as the call contains
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Barrier(MPI_COMM_WORLD);
    });
    check(perdure_wait(handle_, "empty", first_version_ + i, PERDURE_LEVEL_STORE, PERDURE_FOREVER), "wait");
    if (i == 0) continue;
    samples.empty_checkpoint.push_back(empty);
    samples.barrier.push_back(barriers);
  }
}

void Bench::note_memory() { most_bytes_ = std::max(most_bytes_, anonymous_memory_bytes()); }

}  // namespace perdure::bench
