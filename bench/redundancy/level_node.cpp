#include "level_node.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include "plain.hpp"
#include "run.hpp"
#include "together.hpp"

namespace perdure::redundancy_bench {
namespace {

struct Contender {
  std::unique_ptr<ProtectedJob> job;
  SchemeTimes times;
};

double processor_s(int of) {
  rusage usage{};
  ::getrusage(of, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Returns the processor time of this process's other threads: with an embedded engine, all background work.
double background_s() { return processor_s(RUSAGE_SELF) - processor_s(RUSAGE_THREAD); }

double sum_of_all(double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return value;
}

// A version that cannot reach level node is waited for in the store, and reported: its time would be that of the store.
base::Status nothing_to_report(ProtectedJob& job) {
  const auto reports = job.reports();
  return micro::agree(reports.empty() ? base::Status{}
                                      : base::fail(PERDURE_UNAVAILABLE, "what is measured", reports.front()));
}

// The slow flush to the store must be over before the next contender is measured.
base::Status take_turn(Contender& one, std::int64_t version, bool counted) {
  const bool single = one.times.scheme == "single";
  MPI_Barrier(MPI_COMM_WORLD);
  const double processor = background_s(), begin = bench::now_s();
  PERDURE_CHECK(one.job->checkpoint(version));
  const double returned = bench::now_s();
  if (!single) PERDURE_CHECK(one.job->wait(version, PERDURE_LEVEL_NODE));
  const double reached = bench::now_s(), used = sum_of_all(background_s() - processor);
  const double blocking = bench::slowest(returned - begin), level_node = bench::slowest(reached - begin);
  if (counted) {
    one.times.blocking.push_back(blocking);
    one.times.background_cpu.push_back(used);
    if (!single) one.times.level_node.push_back(level_node);
  }
  PERDURE_CHECK(nothing_to_report(*one.job));
  PERDURE_CHECK(one.job->wait(version, PERDURE_LEVEL_STORE));
  return one.job->retire(version);
}

base::Result<std::vector<Contender>> open_all(const LevelNode& settings, const std::string& directory,
                                              std::vector<char>& data) {
  std::vector<Contender> all;
  const std::string run = bench::broadcast("bench-" + std::to_string(::getpid()));
  for (const std::string& scheme : settings.schemes) {
    JobOptions options = settings.job;
    options.name = run + "-" + scheme;
    options.directory = directory;
    options.scheme = scheme;
    options.flush_bytes_per_s = settings.flush_bytes_per_s();
    PERDURE_TRY(auto job, ProtectedJob::open(options));
    PERDURE_CHECK(job->protect(data));
    all.push_back({std::move(job), {scheme, {}, {}, {}}});
  }
  return all;
}

}  // namespace

std::uint64_t LevelNode::flush_bytes_per_s() const {
  if (flush_s <= 0) return 0;
  return 1 + static_cast<std::uint64_t>(static_cast<double>(bytes) * job.ranks_per_node / flush_s);
}

base::Result<Times> measure(const LevelNode& settings, const micro::World& world, const std::string& directory) {
  Plain plain(world, settings.job.ranks_per_node, directory, settings.bytes);
  PERDURE_TRY(auto all, open_all(settings, directory, plain.data()));
  Times times;
  micro::Progress progress(world, settings.repetitions + 1U);
  for (int repetition = 0; repetition <= settings.repetitions; ++repetition) {
    const bool counted = repetition > 0;  // the first one warms up
    PERDURE_TRY(const double write, plain.write());
    const double sends = plain.send(), copy = plain.copy();
    for (std::size_t i = 0; i < all.size(); ++i)  // the order alternates
      PERDURE_CHECK(take_turn(all[(i + static_cast<std::size_t>(repetition)) % all.size()], repetition, counted));
    if (counted) times.plain_write.push_back(write);
    if (counted) times.plain_sends.push_back(sends);
    if (counted) times.memcpy.push_back(copy);
    progress.step();
  }
  for (Contender& one : all) {
    times.schemes.push_back(std::move(one.times));
    PERDURE_CHECK(one.job->close());
  }
  return times;
}

}  // namespace perdure::redundancy_bench
