// Does the same as tracked.c with the C++ veneer, and errors as exceptions. The argument is the directory of the store.
#include <cstdio>
#include <perdure/perdure_track.hpp>
#include <string>

int main(int argc, char** argv) try {
  using namespace perdure::tracked;
  if (argc != 2) return 2;
  double state[10][10] = {}, sum = 0;
  auto handle = perdure::open("store.path=" + std::string(argv[1]) + "/store-tracked-cpp").value();
  perdure::TrackPolicy policy;
  policy.every_regions = 5;
  policy.learns = 10;
  auto track = perdure::Track::open(handle, policy).value();
  const perdure::Box box(perdure::indices(0, 0), perdure::View(state));
  const Data data = track.array({"state", perdure::indices(10, 10)}, box).value();
  track.start().value();
  for (int step = 0; step < 30; ++step) {
    const auto add = [&] {
      for (auto& row : state)
        for (double& number : row) sum += number += 1;
    };
    track.region("add", {reads_writes(data), gives(sum)}, add).value();
  }
  const bool saved = track.info().value().checkpoints > 0;
  track.close().value();
  handle.close().value();
  return saved && state[9][9] == 30 && sum == 465 * 100 ? 0 : 1;
} catch (const perdure::Failure& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
