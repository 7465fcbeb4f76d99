#include "level_node.hpp"

#include <unistd.h>

#include "run.hpp"
#include "together.hpp"

namespace perdure::redundancy_bench {
namespace {

/// One rank's data and what it is compared with.
struct Reference {
  Reference(const LevelNode& all, const micro::World& world, std::string in)
      : settings(all), rank(world.rank()), ranks(world.size()), directory(std::move(in)), data(all.bytes) {
    bench::fill_random(data, static_cast<unsigned>(rank) + 1);
    received.assign(all.bytes, 1);
  }

  base::Result<double> plain_write() const {
    const std::string path = directory + "/plain-" + std::to_string(rank);
    std::string why;
    bool good = true;
    const double seconds =
        bench::timed_together([&] { good = bench::write_fresh_file(path, data, false, why) >= 0; });
    ::unlink(path.c_str());
    PERDURE_CHECK(micro::agree(good ? base::Status{} : base::fail(PERDURE_IO, path, why)));
    return seconds;
  }

  // To the rank at the same place of the next node, and from that of the one before.
  double plain_sends() {
    const int step = settings.job.ranks_per_node;
    const int to = (rank + step) % ranks, from = (rank - step + ranks) % ranks;
    const int bytes = static_cast<int>(data.size());
    return bench::timed_together([&] {
      MPI_Sendrecv(data.data(), bytes, MPI_BYTE, to, 1, received.data(), bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    });
  }

  double copy() {
    return bench::timed_together([&] { bench::copy_to_warm_memory(received, data); });
  }

  const LevelNode& settings;
  int rank, ranks;
  std::string directory;
  std::vector<char> data, received;
};

struct Contender {
  std::unique_ptr<ProtectedJob> job;
  SchemeTimes times;
};

// The flush to the store, slow as it is, must be over before somebody else is measured.
base::Status repeat(Contender& one, std::int64_t version, bool counted) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = bench::now_s();
  PERDURE_CHECK(one.job->checkpoint(version));
  const double returned = bench::now_s();
  const bool single = one.times.scheme == "single";
  if (!single) PERDURE_CHECK(one.job->wait(version, PERDURE_LEVEL_NODE));
  const double reached = bench::now_s();
  const double blocking = bench::slowest(returned - begin), level_node = bench::slowest(reached - begin);
  if (counted) one.times.blocking.push_back(blocking);
  if (counted && !single) one.times.level_node.push_back(level_node);
  PERDURE_CHECK(one.job->wait(version, PERDURE_LEVEL_STORE));
  return one.job->retire(version);
}

base::Result<std::vector<Contender>> open_all(const LevelNode& settings, Reference& reference) {
  std::vector<Contender> all;
  const std::string run = bench::broadcast("bench-" + std::to_string(::getpid()));
  for (const std::string& scheme : settings.schemes) {
    JobOptions options = settings.job;
    options.name = run + "-" + scheme;
    options.directory = reference.directory;
    options.scheme = scheme;
    options.flush_bytes_per_s = settings.flush_bytes_per_s();
    PERDURE_TRY(auto job, ProtectedJob::open(options));
    PERDURE_CHECK(job->protect(reference.data));
    all.push_back({std::move(job), {scheme, {}, {}}});
  }
  return all;
}

}  // namespace

std::uint64_t LevelNode::flush_bytes_per_s() const {
  if (flush_s <= 0) return 0;
  return 1 + static_cast<std::uint64_t>(static_cast<double>(bytes) * job.ranks_per_node / flush_s);
}

base::Result<Times> measure(const LevelNode& settings, const micro::World& world, const std::string& directory) {
  Reference reference(settings, world, directory);
  PERDURE_TRY(auto all, open_all(settings, reference));
  Times times;
  micro::Progress progress(world, settings.repetitions + 1U);
  for (int repetition = 0; repetition <= settings.repetitions; ++repetition) {
    const bool counted = repetition > 0;  // the first one warms up
    PERDURE_TRY(const double write, reference.plain_write());
    const double sends = reference.plain_sends(), copy = reference.copy();
    for (std::size_t i = 0; i < all.size(); ++i)  // nobody always follows the same one
      PERDURE_CHECK(repeat(all[(i + static_cast<std::size_t>(repetition)) % all.size()], repetition, counted));
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
