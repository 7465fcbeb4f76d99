// A program with one of the mistakes that `perdure run --check-protection` must find:
//   forgetful none|forget|forget-step|noise|forget-and-noise|never|ignore|crash|once|hang
// It makes 40 steps, and a checkpoint "forgetful" every 10. Regions: 0 field, 1 momentum, 2 step, 3 a constant table;
// with noise also 4, random numbers. Only the last rank forgets a region: its momentum, which flows into its field.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#ifdef FORGETFUL_MPI
#include "perdure/perdure_mpi.hpp"
#else
#include "perdure/perdure.hpp"
#endif

// Leaks would be those of Open MPI, whose libraries are unloaded before the leak check (as in apps/tests/run_app).
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() { return 1; }

namespace {

constexpr int kSteps = 40, kEvery = 10;

struct State {
  std::vector<double> field = std::vector<double>(1000, 1.0), momentum = std::vector<double>(1000, 0.5);
  std::vector<int> table = std::vector<int>(64, 7);
  std::vector<unsigned> noise = std::vector<unsigned>(8, 0);
  long step = 0;

  void advance(bool noisy) {
    for (std::size_t i = 17; i < field.size(); ++i) {  // elements before it are at rest
      momentum[i] = 0.99 * momentum[i] + 0.001 * static_cast<double>(i);
      field[i] += 0.01 * momentum[i];
    }
    if (noisy)
      for (unsigned& number : noise) number = std::random_device()();
    ++step;
  }
};

bool is_one_of(const std::string& text, std::initializer_list<const char*> all) {
  for (const char* one : all)
    if (text == one) return true;
  return false;
}

void protect(perdure::Handle& handle, State& state, const std::string& mistake, bool last_rank) {
  handle.protect(0, state.field).value();
  if (!last_rank || !is_one_of(mistake, {"forget", "forget-and-noise"})) handle.protect(1, state.momentum).value();
  if (mistake != "forget-step") handle.protect(2, state.step).value();
  handle.protect(3, state.table).value();
  if (is_one_of(mistake, {"noise", "forget-and-noise"})) handle.protect(4, state.noise).value();
}

int run(perdure::Handle& handle, const std::string& mistake, int rank, int ranks) {
  State state;
  protect(handle, state, mistake, rank == ranks - 1);
  bool restored = false;
  if (mistake != "ignore") {
    auto done = handle.restore("forgetful");
    if (!done && done.error().code != PERDURE_NOT_FOUND)
      return std::fprintf(stderr, "%s\n", done.error().text.c_str()), 1;
    restored = done.ok();
  }
  if (mistake != "hang") std::printf("rank %d: from step %ld\n", rank, state.step);
  if (mistake == "crash" && restored) std::abort();
  while (state.step < kSteps) {
    state.advance(is_one_of(mistake, {"noise", "forget-and-noise"}));
    const bool due = mistake == "once" ? state.step == kEvery : state.step % kEvery == 0;
    if (!due || mistake == "never") continue;
    if (auto done = handle.checkpoint("forgetful", state.step); !done)
      std::fprintf(stderr, "%s\n", done.error().text.c_str());
  }
  if (mistake == "hang") {
    std::printf("all steps are done\n"), std::fflush(stdout);
    for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));  // wait: it hangs, as it was told
  }
  return handle.close() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mistake = argc > 1 ? argv[1] : "none";
  int rank = 0, ranks = 1;
#ifdef FORGETFUL_MPI
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  auto handle = perdure::open_mpi(MPI_COMM_WORLD);
#else
  auto handle = perdure::open();
#endif
  if (!handle) return std::fprintf(stderr, "%s\n", handle.error().text.c_str()), 1;
  const int status = run(handle.value(), mistake, rank, ranks);
#ifdef FORGETFUL_MPI
  MPI_Finalize();
#endif
  return status;
}
