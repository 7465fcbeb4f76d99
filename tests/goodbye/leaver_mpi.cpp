// A program whose MPI ranks checkpoint versions 1 to 3 and end without closing: leaver_mpi DIRECTORY WAY. The status is
// 0, or 90 if a check failed.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <perdure/perdure_mpi.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

void require(bool good, const std::string& what) {
  if (good) return;
  std::fprintf(stderr, "leaver_mpi: %s\n", what.c_str());
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 90);
}

// The exit status of the whole program: checks after MPI_Finalize cannot abort it.
int wrong_at_the_end(bool good, const std::string& what) {
  if (!good) std::fprintf(stderr, "leaver_mpi: %s\n", what.c_str());
  return good ? 0 : 90;
}

std::string options(const std::string& at, const std::string& more) {
  return "store.path=" + at + "/store;node.path=" + at + "/node;tier.file.path=" + at +
         "/file;tier.memory.max_bytes=32MiB;tier.file.max_bytes=32MiB;flush.max_bandwidth=2MB;retention.keep_last=5;" +
         more;
}

std::string own_directory(const std::string& at, int rank) {
  std::string mine = at + "/" + std::to_string(rank);
  std::filesystem::create_directory(mine);
  return mine;
}

std::vector<double> field(32 * 1024);

perdure_t* opened(MPI_Comm comm, const std::string& at, const char* name, const std::string& more = {}) {
  perdure_t* handle = nullptr;
  char message[1024] = "";
  const auto status = perdure_open_mpi(comm, options(at, more).c_str(), &handle, message, sizeof message);
  require(status == PERDURE_OK, message);
  require(perdure_protect(handle, 0, field.data(), sizeof(double), field.size()) == PERDURE_OK, "protect");
  for (std::int64_t version = 1; version <= 3; ++version)
    require(perdure_checkpoint(handle, name, version) == PERDURE_OK, perdure_error_text(handle));
  return handle;
}

bool says(const char* part) { return std::strstr(perdure_error_text(nullptr), part) != nullptr; }

int closed_after_the_end(perdure_t* handle) {
  perdure_t* const copy = handle;
  int wrong = wrong_at_the_end(perdure_checkpoint(copy, "run", 4) == PERDURE_CLOSED, "a checkpoint after the end");
  wrong += wrong_at_the_end(std::strstr(perdure_error_text(copy), "MPI_Finalize closed it") != nullptr,
                            perdure_error_text(copy));
  wrong += wrong_at_the_end(perdure_close(&handle) == PERDURE_CLOSED, "a close after the end");
  return wrong + wrong_at_the_end(says("MPI_Finalize closed it"), perdure_error_text(nullptr));
}

void say(const std::string& words) {
  std::puts(words.c_str());
  std::fflush(stdout);
}

// Every rank learns the requests that any rank received. `due` returns the reasons, `checkpoint` writes a version.
template <class Due, class Checkpoint>
void until_due(const std::string& at, int rank, const Due& due, const Checkpoint& checkpoint) {
  std::ofstream(at + "/process." + std::to_string(rank)) << ::getpid();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) say("ready");
  unsigned reasons = 0;
  for (std::int64_t version = 4; (reasons & PERDURE_DUE_END) == 0;) {
    reasons = due();
    if (reasons != 0) {
      checkpoint(version);
      say("rank " + std::to_string(rank) + " is told " + std::to_string(reasons) + " at " + std::to_string(version));
      ++version;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // wait: it computes
  }
}

int asks_in_c(const std::string& at, int rank, const std::string& more) {
  perdure_t* handle = opened(MPI_COMM_WORLD, at, "run", more);
  until_due(
      at, rank,
      [&] {
        unsigned reasons = 0;
        require(perdure_due(handle, &reasons) == PERDURE_OK, perdure_error_text(handle));
        return reasons;
      },
      [&](std::int64_t version) {
        require(perdure_checkpoint(handle, "run", version) == PERDURE_OK, perdure_error_text(handle));
      });
  MPI_Finalize();
  return 0;
}

int asks_in_cpp(const std::string& at, int rank, const std::string& more) {
  auto handle = perdure::open_mpi(MPI_COMM_WORLD, options(at, more)).value();
  handle.protect(0, field).value();
  for (std::int64_t version = 1; version <= 3; ++version) handle.checkpoint("run", version).value();
  until_due(
      at, rank, [&] { return handle.due().value(); },
      [&](std::int64_t version) { handle.checkpoint("run", version).value(); });
  MPI_Finalize();
  return 0;
}

[[noreturn]] void wait_for_the_end(const std::string& at, int rank, const std::string& more) {
  (void)opened(MPI_COMM_WORLD, at, "run", more);
  if (rank == 0) say("ready");
  for (;;) ::pause();
}

// As on the first page of the documentation: the handle is a variable of main(), which outlives MPI.
int as_the_readme(const std::string& at) {
  auto handle = perdure::open_mpi(MPI_COMM_WORLD, options(at, "")).value();
  handle.protect(0, field).value();
  for (std::int64_t version = 1; version <= 3; ++version) handle.checkpoint("run", version).value();
  MPI_Finalize();
  return 0;
}

int leave(const std::string& at, const std::string& way) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (way == "readme") return as_the_readme(at);
  if (way == "waits") wait_for_the_end(at, rank, "");
  if (way == "daemon_waits") wait_for_the_end(at, rank, "engine.mode=daemon;engine.idle_exit=1");
  if (way == "due_c") return asks_in_c(at, rank, "signals=checkpoint");
  if (way == "due_cpp") return asks_in_cpp(at, rank, "signals=checkpoint");
  if (way == "halt_c") return asks_in_c(at, rank, "");
  if (way == "halt_cpp") return asks_in_cpp(at, rank, "");
  if (way == "alone") {
    perdure_t* handle = nullptr;
    char message[1024] = "";
    const auto refused = perdure_open(options(at, "").c_str(), &handle, message, sizeof message);
    require(refused == PERDURE_INVALID_ARGUMENT && std::strstr(message, "perdure_open_mpi()") != nullptr, message);
    const std::string mine = own_directory(at, rank);
    require(perdure_open(options(mine, "ranks.alone=true").c_str(), &handle, message, sizeof message) == PERDURE_OK,
            message);
    MPI_Finalize();
    return wrong_at_the_end(perdure_close(&handle) == PERDURE_OK, "MPI closed what is not of MPI");
  }
  perdure_t* handle = nullptr;
  if (way == "two") {  // two groups that have one rank in common, opened in the same order
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &half);
    (void)opened(half, own_directory(at, rank), "own");
    MPI_Comm_free(&half);
  }
  if (way == "full") {
    handle = opened(MPI_COMM_WORLD, at, "run", "engine.drain_timeout=0.01;messages=stderr;flush.max_bandwidth=1");
    MPI_Finalize();
    const auto expected = rank == 0 ? PERDURE_UNAVAILABLE : PERDURE_PEER_FAILED;  // rank 0 speaks for the node
    const int wrong = wrong_at_the_end(perdure_close(&handle) == expected, "what is left is not said");
    return wrong + wrong_at_the_end(says(rank == 0 ? "did not reach the store" : "rank 0 failed: unavailable"),
                                    perdure_error_text(nullptr));
  }
  handle = opened(MPI_COMM_WORLD, at, "run");
  if (way == "one_closes" && rank == 0) require(perdure_close(&handle) == PERDURE_OK, "close");
  if (way == "before_its_end") require(perdure_close(&handle) == PERDURE_OK, perdure_error_text(nullptr));
  MPI_Finalize();
  return handle == nullptr ? 0 : closed_after_the_end(handle);
}

}  // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  require(count == 3, "usage: leaver_mpi DIRECTORY WAY");
  return leave(arguments[1], arguments[2]);
}
