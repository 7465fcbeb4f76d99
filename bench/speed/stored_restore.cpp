// Measures restores from the store, with its segments in the page cache and without, past that cache (store.direct) and
// through it, alternately. Every rank restores its own data and verifies it.
//   mpirun -n 2 build/release/bench/stored_restore [--bytes 256MiB] [--repetitions 7] [--store DIRECTORY]
#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "perdure/perdure_mpi.h"
#include "statistics.hpp"
#include "together.hpp"

namespace {

using namespace perdure::bench;
using nlohmann::json;
namespace fs = std::filesystem;

struct Settings {
  std::size_t bytes = 256U << 20;
  int repetitions = 7;
  std::string store, more;
  bool json = false;
};

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "stored_restore: %s\n", what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::exit(1);
}

double processor_s() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}

/// A file of the store, and its share in the page cache.
class StoredFile {
 public:
  explicit StoredFile(const fs::path& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), bytes_(fs::file_size(path)) {
    if (fd_ < 0) give_up("cannot open " + path.string());
  }
  ~StoredFile() { ::close(fd_); }
  StoredFile(const StoredFile&) = delete;
  StoredFile& operator=(const StoredFile&) = delete;
  void drop() const { ::posix_fadvise(fd_, 0, 0, POSIX_FADV_DONTNEED); }
  void fetch() const {
    std::vector<char> block(1U << 20);
    for (std::size_t at = 0; at < bytes_;) {
      const ssize_t got = ::pread(fd_, block.data(), block.size(), static_cast<off_t>(at));
      if (got <= 0) give_up("cannot read the store");
      at += static_cast<std::size_t>(got);
    }
  }
  std::size_t cached() const {
    void* at = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, fd_, 0);
    if (at == MAP_FAILED) give_up("cannot map the store");
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> pages((bytes_ + page - 1) / page);
    ::mincore(at, bytes_, pages.data());
    ::munmap(at, bytes_);
    std::size_t sum = 0;
    for (const unsigned char one : pages) sum += (one & 1U) != 0 ? page : 0;
    return sum;
  }

 private:
  int fd_;
  std::size_t bytes_;
};

/// Calls `work(file)` for all segments of the store, on one rank.
template <class Work>
void with_segments(const Settings& settings, int rank, Work work) {
  if (rank == 0)
    for (const auto& entry : fs::recursive_directory_iterator(settings.store + "/store"))
      if (entry.path().extension() == ".pds") work(StoredFile(entry.path()));
  MPI_Barrier(MPI_COMM_WORLD);
}

/// A job on nodes without data.
class Job {
 public:
  Job(const Settings& settings, bool direct, int rank, std::vector<char>& memory) : rank_(rank) {
    static int jobs = 0;
    const char* const known = std::getenv("PERDURE_NODE_PATH");
    const std::string node = known != nullptr ? known : "/dev/shm/perdure-stored-" + std::to_string(::getpid());
    node_ = broadcast(node) + "-" + std::to_string(++jobs);
    const std::string options = "store.path=" + settings.store + "/store;tier.order=memory;node.path=" + node_ +
                                ";engine.mode=embedded;store.direct=" + (direct ? "true" : "false") +
                                (settings.more.empty() ? "" : ";" + settings.more);
    char message[1024];
    if (perdure_open_mpi(MPI_COMM_WORLD, options.c_str(), &handle_, message, sizeof message) != PERDURE_OK)
      give_up(message);
    check(perdure_protect(handle_, 1, memory.data(), 1, memory.size()), "protect");
  }
  ~Job() {
    perdure_close(&handle_);
    MPI_Barrier(MPI_COMM_WORLD);
    std::error_code ignored;
    if (rank_ == 0) fs::remove_all(node_, ignored);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  void store() const {
    check(perdure_checkpoint(handle_, "stored", 0), "checkpoint");
    check(perdure_wait(handle_, "stored", 0, PERDURE_LEVEL_STORE, PERDURE_FOREVER), "wait");
  }
  void restore() const { check(perdure_restore(handle_, "stored", 0), "restore"); }

 private:
  void check(perdure_status status, const char* call) const {
    if (status != PERDURE_OK) give_up(std::string(call) + ": " + perdure_error_text(handle_));
  }
  int rank_;
  std::string node_;
  perdure_t* handle_ = nullptr;
};

class Comparison {
 public:
  Comparison(const Settings& settings, int rank) : settings_(settings), rank_(rank), written_(settings.bytes) {
    fill_random(written_, static_cast<unsigned>(rank) + 1);
    memory_ = written_;
    Job(settings_, true, rank_, memory_).store();
  }
  json run() {
    json cells = json::array();
    for (const bool cold : {true, false})
      for (const bool direct : {true, false})
        cells.push_back({{"cached", cold ? "nothing" : "all"},
                         {"direct", direct},
                         {"restore_s", json::array()},
                         {"processor_s", json::array()},
                         {"left_in_cache", json::array()}});
    for (int repetition = 0; repetition <= settings_.repetitions; ++repetition)
      for (std::size_t i = 0; i < cells.size(); ++i) {
        json& cell = cells[repetition % 2 == 0 ? i : cells.size() - 1 - i];
        measure(cell, repetition > 0);
      }
    return cells;
  }

 private:
  void measure(json& cell, bool counts) {
    std::fill(memory_.begin(), memory_.end(), char{1});
    const Job job(settings_, cell["direct"].get<bool>(), rank_, memory_);
    const bool cold = cell["cached"] == "nothing";
    with_segments(settings_, rank_, [&](const StoredFile& file) { cold ? file.drop() : file.fetch(); });
    const double used = processor_s();
    const double seconds = timed_together([&] { job.restore(); });
    double processor = processor_s() - used;
    MPI_Allreduce(MPI_IN_PLACE, &processor, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    std::size_t left = 0;
    with_segments(settings_, rank_, [&](const StoredFile& file) { left += file.cached(); });
    if (memory_ != written_) give_up("what was restored is not what was written");
    if (!counts) return;
    cell["restore_s"].push_back(seconds);
    cell["processor_s"].push_back(processor);
    cell["left_in_cache"].push_back(left);
  }

  const Settings& settings_;
  int rank_;
  std::vector<char> written_, memory_;
};

void print_table(const json& result) {
  std::printf("restore of %.0f MiB per rank out of the store, medians of %d\n",
              result["bytes_per_rank"].get<double>() / (1 << 20), result["repetitions"].get<int>());
  for (const auto& cell : result["cells"]) {
    const auto seconds = cell["restore_s"].get<std::vector<double>>();
    const Spread of = spread(seconds);
    std::printf("  in the cache %-8s %-9s %8.1f ms (%.1f to %.1f), processors %8.1f ms, then cached %6.1f MiB\n",
                cell["cached"].get<std::string>().c_str(), cell["direct"].get<bool>() ? "direct" : "buffered",
                of.median * 1e3, of.min * 1e3, of.max * 1e3,
                median(cell["processor_s"].get<std::vector<double>>()) * 1e3,
                median(cell["left_in_cache"].get<std::vector<double>>()) / (1 << 20));
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CLI::App app{"A restore out of the store: past the system's memory of files, and through it"};
  Settings settings;
  app.add_option("--bytes", settings.bytes, "protected bytes per rank")->transform(CLI::AsSizeValue(false));
  app.add_option("--repetitions", settings.repetitions, "counted ones, after one warm-up")->check(CLI::Range(1, 1000));
  app.add_option("--set", settings.more, "further options, key=value separated by semicolons");
  app.add_option("--store", settings.store, "where a temporary store is made; by default the working directory");
  app.add_flag("--json", settings.json, "print one JSON object");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = rank == 0 ? app.exit(error) : 0;
    MPI_Finalize();
    return code;
  }
  std::string directory =
      fs::absolute(settings.store.empty() ? "." : settings.store).string() + "/perdure-stored-XXXXXX";
  if (rank == 0 && ::mkdtemp(directory.data()) == nullptr) give_up("cannot make " + directory);
  settings.store = broadcast(directory);
  json result = {{"benchmark", "stored_restore"},
                 {"ranks", ranks},
                 {"bytes_per_rank", settings.bytes},
                 {"repetitions", settings.repetitions}};
  result["cells"] = Comparison(settings, rank).run();
  MPI_Barrier(MPI_COMM_WORLD);
  std::error_code ignored;
  if (rank == 0) fs::remove_all(settings.store, ignored);
  if (rank == 0 && settings.json) std::printf("%s\n", result.dump(2).c_str());
  if (rank == 0 && !settings.json) print_table(result);
  MPI_Finalize();
  return 0;
}
