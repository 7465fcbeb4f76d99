#include "measured_loop.hpp"

#include <unistd.h>

#include <algorithm>

#include "store_files.hpp"
#include "together.hpp"

namespace perdure::peers_bench {
namespace {

/// Above this size a second barrier is negligible.
constexpr std::size_t kLong = 1U << 20;

}  // namespace

MeasuredLoop::MeasuredLoop(BackEnd& system, const LoopSettings& settings, const Place& place)
    : system_(system), settings_(settings), place_(place), memory_(settings.bytes), warm_(settings.bytes, 1) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
}

Outcome MeasuredLoop::run() {
  if (Outcome begun = system_.initialise(place_); !begun) return begun;
  if (Outcome known = system_.protect(memory_); !known) return known;
  for (int repetition = 0; repetition <= settings_.repetitions; ++repetition) {
    Times warm_up;
    Outcome done = repeat(repetition + 1, repetition == 0 ? warm_up : times_);
    if (!done) return done;
    if (repetition == 0) first_blocking_s_ = warm_up["blocking"].front();
    if (rank_ == 0) bench::show_progress(repetition, settings_.repetitions);
  }
  return system_.finish();
}

Outcome MeasuredLoop::repeat(int version, Times& times) {
  bench::fill_random(memory_, static_cast<unsigned>(1000 * version + rank_) + 1);
  // Each reference runs next to the measurement that it is compared with; the store's alternates between before and
  // after the flush.
  if (Outcome done = references(times, version % 2 == 0); !done) return done;
  if (Outcome done = checkpoint(version, times); !done) return done;
  if (version % 2 == 1) {
    if (Outcome done = write(place_.store + "/.reference-", true, times["store_write"]); !done) return done;
  }
  return restore(version, times);
}

Outcome MeasuredLoop::references(Times& times, bool store_now) {
  if (Outcome done = write(place_.node + "/.reference-", false, times["fresh_write"]); !done) return done;
  if (store_now) {
    if (Outcome done = write(place_.store + "/.reference-", true, times["store_write"]); !done) return done;
  }
  times["memcpy"].push_back(bench::timed_together([&] { bench::copy_to_warm_memory(warm_, memory_); }));
  return {};
}

Outcome MeasuredLoop::write(const std::string& prefix, bool sync, std::vector<double>& seconds) {
  const std::string path = prefix + std::to_string(rank_);
  std::string why;
  bool good = true;
  seconds.push_back(bench::timed_together([&] { good = bench::write_fresh_file(path, memory_, sync, why) >= 0; }));
  ::unlink(path.c_str());
  if (!good) return failed(why);
  return {};
}

void MeasuredLoop::meet() const {
  if (settings_.bytes >= kLong) MPI_Barrier(MPI_COMM_WORLD);
}

Outcome MeasuredLoop::checkpoint(int version, Times& times) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = bench::now_s();
  if (Outcome done = system_.checkpoint(version); !done) return done;
  meet();
  const double blocked = bench::now_s();
  if (Outcome done = system_.wait_for_store(version); !done) return done;
  meet();
  const double stored = bench::now_s();
  std::string why;
  MPI_Barrier(MPI_COMM_WORLD);  // a rank may write for others
  if (!system_.syncs() && !sync_files(place_.store, rank_, ranks_, why)) return failed(why);
  meet();
  const double durable = system_.syncs() ? stored : bench::now_s();
  times["blocking"].push_back(bench::slowest(blocked - begin));
  times["stored"].push_back(bench::slowest(stored - begin));
  times["durable"].push_back(bench::slowest(durable - begin));
  return {};
}

Outcome MeasuredLoop::restore(int version, Times& times) {
  Outcome done;
  times["prepare_restore"].push_back(bench::timed_together([&] { done = system_.prepare_restore(version); }));
  if (!done) return done;
  std::fill(memory_.begin(), memory_.end(), '\0');
  times["restore"].push_back(bench::timed_together([&] { done = system_.restore(version); }));
  if (!done) return done;
  // The memcpy before the checkpoint left a copy there.
  if (memory_ != warm_) return failed("what was restored differs from what was captured");
  return {};
}

}  // namespace perdure::peers_bench
