// A mesh program that uses only installed headers. Killed in the middle and started again, it ends with the same
// result. The argument is the directory of the store.
#include "perdure/mesh/mesh.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

#include "perdure/mesh/protection.hpp"
#include "perdure/perdure.hpp"
#ifdef WITH_HDF5
#include "perdure/mesh/hdf5.hpp"
#endif

using namespace perdure::mesh;

namespace {

constexpr std::int64_t kCells = 24;
constexpr int kSteps = 60;

struct Ended {
  double sum = 0;
  bool restarted = false;
};

// A null handle means that nothing is protected.
Ended life(perdure::Handle* handle, int dies_at, const std::string& directory) {
  Mesh mesh(one_rank(), {2});
  const Block& plate = mesh.block("plate", {kCells, kCells});
  auto &now = mesh.data(plate, "now"), &next = mesh.data(plate, "next");
  const Profile<double> hot(1, -2, kCells + 2, [](std::int64_t y) { return 1 + 0.01 * static_cast<double>(y); });
  mesh.par_loop(
      "start", plate, now.whole(), [](const auto& at, const auto& h, auto& t) { t(0, 0) = at[0] < 0 ? h(0) : 0; },
      index(), along(hot), write(now));
  Ended ended;
  const Protection* protection = nullptr;
  if (handle != nullptr) protection = &protect(mesh, *handle, {.name = "plate", .every_loops = 7, .before = "smooth"});
  if (protection != nullptr) ended.restarted = protection->restarted();
  const Box cells = box({{0, kCells}, {0, kCells}});
  for (int step = 0; step < kSteps; ++step) {
    if (step == dies_at) raise(SIGKILL);
    auto sum = mesh.sum();
    mesh.par_loop(
        "smooth", plate, cells,
        [](const auto& t, auto& n) { n(0, 0) = 0.25 * (t(1, 0) + t(-1, 0) + t(0, 1) + t(0, -1)); },
        read(now, Stencil::star(2)), write(next));
    mesh.par_loop(
        "copy", plate, cells, [](const auto& n, auto& t, double& s) { s += t(0, 0) = n(0, 0); }, read(next), write(now),
        into(sum));
    ended.sum = mesh.collect(sum);
  }
  if (protection != nullptr) protection->ended();
#ifdef WITH_HDF5
  write_hdf5(mesh, directory + "/end.h5", {&now});
#else
  (void)directory;
#endif
  return ended;
}

int good(bool condition, const char* what) {
  if (!condition) std::printf("FAILED: %s\n", what);
  return condition ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const std::string directory = argv[1], store = "store.path=" + directory + "/store-mesh";
  const pid_t first = fork();
  if (first == 0) {
    perdure::Handle handle = perdure::open(store).value();
    life(&handle, 40, directory);
    _exit(9);
  }
  int status = 0;
  waitpid(first, &status, 0);
  if (good(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the first life was killed") != 0) return 1;
  perdure::Handle handle = perdure::open(store).value();
  const Ended ended = life(&handle, -1, directory);
  handle.close().value();
  return good(ended.restarted, "the second life goes on") +
         good(ended.sum == life(nullptr, -1, directory).sum, "it ends as an undisturbed run");
} catch (const std::exception& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
