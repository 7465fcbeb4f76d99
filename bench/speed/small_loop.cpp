// small_loop COUNT makes this many checkpoints of 4 KiB, as fast as possible. Prints as JSON the time of the first and
// the last hundred. It also prints the most descriptors of this process, and the most versions waiting for the store.
// The newest version has to come back. The environment sets store, node and mode.
#include <dirent.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "perdure/perdure.h"

namespace {

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Includes the descriptor that reads the directory.
long descriptors() {
  DIR* directory = ::opendir("/proc/self/fd");
  if (directory == nullptr) return -1;
  long count = 0;
  while (::readdir(directory) != nullptr) ++count;
  ::closedir(directory);
  return count - 3;
}

double median_ms(std::vector<double> seconds) {
  if (seconds.empty()) return 0;
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
  return 1e3 * seconds[seconds.size() / 2];
}

[[noreturn]] void give_up(perdure_t* handle, const char* call) {
  std::fprintf(stderr, "small_loop: %s: %s\n", call, perdure_error_text(handle));
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  const long count = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 1000;
  const std::size_t hundred = static_cast<std::size_t>(std::min(count, 100L));
  char message[1024];
  perdure_t* handle = nullptr;
  if (perdure_open("", &handle, message, sizeof message) != PERDURE_OK) {
    std::fprintf(stderr, "small_loop: %s\n", message);
    return 1;
  }
  std::vector<char> state(4096, 'x');
  if (perdure_protect(handle, 0, state.data(), 1, state.size()) != PERDURE_OK) give_up(handle, "protect");
  std::vector<double> seconds;
  seconds.reserve(static_cast<std::size_t>(count));
  long most = descriptors();
  unsigned long most_waiting = 0;
  const double begin = now_s();
  for (long version = 1; version <= count; ++version) {
    std::snprintf(state.data(), state.size(), "%ld", version);
    const double before = now_s();
    if (perdure_checkpoint(handle, "loop", version) != PERDURE_OK) give_up(handle, "checkpoint");
    seconds.push_back(now_s() - before);
    if (version % 256 != 0) continue;
    most = std::max(most, descriptors());
    perdure_progress progress{};
    if (perdure_get_progress(handle, &progress) != PERDURE_OK) give_up(handle, "progress");
    most_waiting = std::max<unsigned long>(most_waiting, progress.versions_pending);
  }
  const double whole_s = now_s() - begin;
  std::fill(state.begin(), state.end(), '\0');
  if (perdure_restore(handle, "loop", PERDURE_LATEST) != PERDURE_OK) give_up(handle, "restore");
  if (std::strtol(state.data(), nullptr, 10) != count) {
    std::fprintf(stderr, "small_loop: version %s came back\n", state.data());
    return 1;
  }
  if (perdure_close(&handle) != PERDURE_OK) give_up(handle, "close");
  const auto some = static_cast<std::ptrdiff_t>(hundred);
  std::printf(
      "{\"checkpoints\": %ld, \"first_ms\": %.3f, \"last_ms\": %.3f, \"all_ms\": %.3f, \"seconds\": %.1f, "
      "\"descriptors\": %ld, \"waiting\": %lu}\n",
      count, median_ms({seconds.begin(), seconds.begin() + some}), median_ms({seconds.end() - some, seconds.end()}),
      median_ms(seconds), whole_s, most, most_waiting);
  return 0;
}
