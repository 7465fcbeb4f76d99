#include "ranks.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "perdure/perdure_ranks.h"
#include "sanitized.hpp"

#if PERDURE_THREAD_SANITIZER
// In these tests ranks end at any point, without joining a thread that has finished.
extern "C" [[gnu::visibility("default")]] const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "report_thread_leaks=0"; }
#endif

namespace perdure::test_support {
namespace {

constexpr std::size_t kRoom = 1U << 20;  // bytes a rank may give to one allgather
constexpr int kMaxRanks = 16;

struct Shared {
  std::atomic<int> arrived = 0;
  std::atomic<int> round = 0;
  std::atomic<bool> broken = false;                 // some rank waited for too long
  std::atomic<std::uint64_t> came[kMaxRanks] = {};  // number of collectives that each rank has reached
  int size = 0;
  std::byte room[kMaxRanks][kRoom];
};

struct Context {
  Shared* shared;
  int rank;
};

// As MPI's: some ranks have waited longer than allowed.
int late(Shared& s, int rank) {
  unsigned char came[kMaxRanks] = {};
  for (int r = 0; r < s.size; ++r) came[r] = s.came[r] >= s.came[rank] ? 1 : 0;
  s.broken = true;
  char text[200];
  perdure_came(came, static_cast<std::size_t>(s.size), text, sizeof text);
  perdure_late(text);
  return 1;
}

int barrier(void* context) {
  const int rank = static_cast<Context*>(context)->rank;
  Shared& s = *static_cast<Context*>(context)->shared;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(perdure_patience());
  const int round = s.round.load();
  if (s.broken) return 1;
  ++s.came[rank];
  if (s.arrived.fetch_add(1) + 1 == s.size) {
    s.arrived = 0;
    s.round.fetch_add(1);
    return 0;
  }
  for (int spins = 0; s.round.load() == round; ++spins) {
    if (s.broken || (perdure_patience() > 0 && std::chrono::steady_clock::now() > end)) return late(s, rank);
    if (spins < 200)
      std::this_thread::yield();  // wait: as MPI does; of a job whose rank dies all are killed
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));  // wait: the same
  }
  return 0;
}

int allgather(void* context, const void* mine, std::size_t bytes, void* all) {
  auto* c = static_cast<Context*>(context);
  if (bytes > kRoom) return 1;
  std::memcpy(c->shared->room[c->rank], mine, bytes);
  if (barrier(context) != 0) return 1;
  for (int r = 0; r < c->shared->size; ++r)
    std::memcpy(static_cast<std::byte*>(all) + static_cast<std::size_t>(r) * bytes, c->shared->room[r], bytes);
  return barrier(context);
}

int allreduce(void* context, std::uint64_t* values, std::size_t count, int operation) {
  const int size = static_cast<Context*>(context)->shared->size;
  std::vector<std::uint64_t> all(count * static_cast<std::size_t>(size));
  if (allgather(context, values, count * sizeof(std::uint64_t), all.data()) != 0) return 1;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t result = all[i];
    for (int r = 1; r < size; ++r) {
      const std::uint64_t other = all[static_cast<std::size_t>(r) * count + i];
      result = operation == 0 ? std::min(result, other) : operation == 1 ? std::max(result, other) : result + other;
    }
    values[i] = result;
  }
  return 0;
}

int broadcast(void* context, void* data, std::size_t bytes, int root) {
  auto* c = static_cast<Context*>(context);
  if (bytes > kRoom) return 1;
  if (c->rank == root) std::memcpy(c->shared->room[root], data, bytes);
  if (barrier(context) != 0) return 1;
  std::memcpy(data, c->shared->room[root], bytes);
  return barrier(context);
}

[[noreturn]] void run_child(Shared* shared, int rank, const RunOptions& options,
                            const std::function<int(const Rank&)>& body) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (options.in_child) options.in_child(rank);
  auto* context = new Context{shared, rank};
  Rank me;
  me.rank = rank;
  me.size = shared->size;
  me.communicator = {rank, shared->size, context, barrier, allreduce, allgather, broadcast, nullptr};
  const int code = body(me);
  std::fflush(nullptr);
  ::_exit(code);
}

int exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

perdure_t* Rank::open(const std::string& options) const {
  perdure_t* handle = nullptr;
  char message[1024];
  if (perdure_open_communicator(&communicator, options.c_str(), &handle, message, sizeof message) == PERDURE_OK)
    return handle;
  std::fprintf(stderr, "rank %d cannot open: %s\n", rank, message);
  ::_exit(90);
}

bool Outcome::all(int code) const {
  return std::all_of(exit_codes.begin(), exit_codes.end(), [code](int c) { return c == code; });
}

std::string Outcome::text() const {
  std::string list = "exit codes";
  for (int code : exit_codes) list += " " + std::to_string(code);
  return list;
}

Outcome run_ranks(const RunOptions& options, const std::function<int(const Rank&)>& body) {
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* shared = new (memory) Shared;
  shared->size = options.ranks;
  std::fflush(nullptr);
  std::vector<int> pids;
  for (int rank = 0; rank < options.ranks; ++rank) {
    const pid_t pid = ::fork();
    if (pid == 0) run_child(shared, rank, options, body);
    pids.push_back(pid);
  }
  if (options.meanwhile) options.meanwhile(pids);
  Outcome outcome;
  outcome.exit_codes.assign(pids.size(), -1);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(options.timeout_s);
  std::size_t left = pids.size();
  bool killing = false;
  while (left > 0) {
    for (std::size_t i = 0; i < pids.size(); ++i) {
      int status = 0;
      if (outcome.exit_codes[i] >= 0 || ::waitpid(pids[i], &status, WNOHANG) != pids[i]) continue;
      outcome.exit_codes[i] = exit_code(status);
      --left;
      killing = killing || (options.kill_all_when_one_dies && WIFSIGNALED(status));
    }
    killing = killing || std::chrono::steady_clock::now() > deadline;
    if (killing)
      for (std::size_t i = 0; i < pids.size(); ++i)
        if (outcome.exit_codes[i] < 0) ::kill(pids[i], SIGKILL);
    if (left > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // wait: until the run's own limit
  }
  ::munmap(memory, sizeof(Shared));
  return outcome;
}

}  // namespace perdure::test_support
