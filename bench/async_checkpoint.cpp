// The asynchronous checkpointing benchmark (VeloC IPDPS'19, V-B): every rank fills a protected array with random bytes; barrier; checkpoint, the
// slowest rank counts; wait until it is at the store. The references are measured in turn with it, in the same repetition, because
// machines are shared and noisy.
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "perdure/perdure_mpi.h"
#include "references.hpp"
#include "report.hpp"

namespace {

using namespace perdure::bench;

struct Arguments {
  std::size_t bytes = 256U << 20;
  int repetitions = 7;
  std::string tiers = "memory", mode = "embedded", store, chunk = "64MiB";
  bool keep = false, json = false;
};

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "async_checkpoint: %s\n", what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::exit(1);
}

double slowest(double seconds) {
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

// Barrier, then the time of the slowest rank.
template <class Work>
double timed(Work work) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now_s();
  work();
  return slowest(now_s() - begin);
}

class Bench {
 public:
  Bench(const Arguments& arguments, int rank) : arguments_(arguments), rank_(rank), source_(arguments.bytes), warm_(arguments.bytes, 1) {
    fill_random(source_, static_cast<unsigned>(rank) + 1);
    before_bytes_ = anonymous_memory_bytes();
  }

  void run(Samples& samples, Context& context) {
    open();
    for (int repetition = 0; repetition <= arguments_.repetitions; ++repetition) {
      Samples warm_up;
      measure(repetition, repetition == 0 ? warm_up : samples, context);
      if (rank_ == 0 && ::isatty(2) != 0) std::fprintf(stderr, "\rrepetition %d of %d ", repetition, arguments_.repetitions);
    }
    if (rank_ == 0 && ::isatty(2) != 0) std::fprintf(stderr, "\r%30s\r", "");
    const std::size_t after = anonymous_memory_bytes();
    unsigned long long own = after > before_bytes_ ? after - before_bytes_ : 0;
    MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    context.own_memory_bytes = own;
    empty_checkpoints(samples);
    check(perdure_close(&handle_), "close");
  }

 private:
  void open() {
    char message[1024];
    const std::string options = "store.path=" + arguments_.store + ";tier.order=" + arguments_.tiers + ";engine.mode=" + arguments_.mode +
                                ";chunk_bytes=" + arguments_.chunk + ";job=bench-" + std::to_string(::getppid()) + ";engine.idle_exit=1";
    if (perdure_open_mpi(MPI_COMM_WORLD, options.c_str(), &handle_, message, sizeof message) != PERDURE_OK) give_up(message);
    check(perdure_protect(handle_, 1, source_.data(), 1, source_.size()), "protect");
  }

  void check(perdure_status status, const char* call) const {
    if (status != PERDURE_OK) give_up(std::string(call) + ": " + perdure_error_text(handle_));
  }

  void measure(int repetition, Samples& samples, Context& context) {
    std::string why;
    const std::string mine = std::to_string(rank_) + "-" + std::to_string(::getpid());
    samples.memcpy.push_back(timed([&] { copy_to_warm_memory(warm_, source_); }));
    samples.fresh_write.push_back(timed([&] { if (write_fresh_file("/dev/shm/perdure-bench-" + mine, source_, false, why) < 0) give_up(why); }));
    const long faults = minor_faults();
    const double begin = now_s();
    samples.blocking.push_back(timed([&] { check(perdure_checkpoint(handle_, "bench", repetition), "checkpoint"); }));
    if (repetition == 0) {
      context.first_blocking_s = samples.blocking.back();
      context.first_faults = minor_faults() - faults;
    }
    samples.flush.push_back(timed([&] { check(perdure_wait(handle_, "bench", repetition, PERDURE_LEVEL_STORE, PERDURE_FOREVER), "wait"); }));
    samples.total.push_back(slowest(now_s() - begin));
    const std::vector<char>& expected = warm_;  // the memcpy above left a copy there
    std::fill(source_.begin(), source_.end(), '\0');
    samples.restore.push_back(timed([&] { check(perdure_restore(handle_, "bench", repetition), "restore"); }));
    if (source_ != expected) give_up("what was restored differs from what was captured");
    samples.store_write.push_back(timed([&] { if (write_fresh_file(arguments_.store + ".reference-" + mine, source_, true, why) < 0) give_up(why); }));
  }

  void empty_checkpoints(Samples& samples) {
    check(perdure_unprotect(handle_, 1), "unprotect");
    for (int i = 0; i <= arguments_.repetitions; ++i) {
      const double empty = timed([&] { check(perdure_checkpoint(handle_, "empty", i), "empty checkpoint"); });
      const double barriers = timed([&] {  // as many exchanges as the call contains
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
      });
      check(perdure_wait(handle_, "empty", i, PERDURE_LEVEL_STORE, PERDURE_FOREVER), "wait");
      if (i == 0) continue;
      samples.empty_checkpoint.push_back(empty);
      samples.barrier.push_back(barriers);
    }
  }

  const Arguments& arguments_;
  int rank_;
  std::vector<char> source_, warm_;
  std::size_t before_bytes_ = 0;
  perdure_t* handle_ = nullptr;
};

// The same directory on all ranks.
std::string make_store(const std::string& wanted, int rank) {
  char path[4096] = "./perdure-bench-XXXXXX";
  if (!wanted.empty()) std::snprintf(path, sizeof path, "%s", wanted.c_str());
  if (rank == 0 && wanted.empty() && ::mkdtemp(path) == nullptr) give_up("cannot make a directory here for the store");
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
  return path;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Context context;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &context.ranks);
  CLI::App app{"Asynchronous checkpointing against memcpy, fresh tmpfs files and write+fsync, in one run"};
  Arguments arguments;
  app.add_option("--bytes", arguments.bytes, "protected bytes per rank")->transform(CLI::AsSizeValue(false))->capture_default_str();
  app.add_option("--repetitions", arguments.repetitions, "counted repetitions, after one warm-up")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--tiers", arguments.tiers, "tier.order")->capture_default_str();
  app.add_option("--mode", arguments.mode, "engine")->check(CLI::IsMember({"embedded", "daemon"}))->capture_default_str();
  app.add_option("--chunk", arguments.chunk, "chunk_bytes")->capture_default_str();
  app.add_option("--store", arguments.store, "store directory; by default a temporary one here");
  app.add_flag("--keep", arguments.keep, "leave the store behind");
  app.add_flag("--json", arguments.json, "print one JSON object");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = rank == 0 ? app.exit(error) : 0;
    MPI_Finalize();
    return code;
  }
  arguments.store = make_store(arguments.store, rank);
  context.bytes_per_rank = arguments.bytes;
  context.mode = arguments.mode;
  context.tiers = arguments.tiers;
  context.store = arguments.store;
  Samples samples;
  Bench(arguments, rank).run(samples, context);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    const auto result = to_json(context, samples);
    if (arguments.json) std::printf("%s\n", result.dump(2).c_str());
    else print_table(result);
    if (!arguments.keep) std::filesystem::remove_all(arguments.store);
  }
  MPI_Finalize();
  return 0;
}
