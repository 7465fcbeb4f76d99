#include "os/crash_point.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>

namespace perdure::os {
namespace {

constexpr const char* kVariable = "PERDURE_TEST_CRASH";
constexpr const char* kMarkerVariable = "PERDURE_TEST_CRASH_MARKER";
constexpr const char* kStopsVariable = "PERDURE_TEST_CRASH_STOPS";
std::atomic<int> hits_left{0};

std::optional<CrashPoint> find_point(std::string_view name) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(CrashPoint::count); ++i)
    if (crash_point_name(static_cast<CrashPoint>(i)) == name) return static_cast<CrashPoint>(i);
  return std::nullopt;
}

// Several handles and an engine may start in one process: only the first may set the counter.
bool first_time(const std::string& text) {
  static std::mutex mutex;
  static std::string armed;
  const std::lock_guard lock(mutex);
  if (armed == text) return false;
  armed = text;
  return true;
}

}  // namespace

std::atomic<int> armed_crash_point{-1};

void arm_crash_point(CrashPoint point, int hit) {
  hits_left.store(hit);
  armed_crash_point.store(static_cast<int>(point));
}

base::Status arm_crash_point_from_environment() {
  const char* value = std::getenv(kVariable);
  if (value == nullptr || *value == '\0') return {};
  const std::string text = value;
  const std::size_t colon = text.find(':');
  int hit = 1;
  if (colon != std::string::npos) {
    const char* end = text.data() + text.size();
    auto [stop, error] = std::from_chars(text.data() + colon + 1, end, hit);
    if (error != std::errc() || stop != end || hit < 1)
      return base::fail(PERDURE_INVALID_ARGUMENT, kVariable, "'" + text + "' must end in a number from 1");
  }
  const auto point = find_point(std::string_view(text).substr(0, colon));
  if (!point) return base::fail(PERDURE_INVALID_ARGUMENT, kVariable, "'" + text + "' names no crash point");
  if (first_time(text)) arm_crash_point(*point, hit);
  return {};
}

void crash_point_reached(CrashPoint point) {
  if (armed_crash_point.load() != static_cast<int>(point)) return;
  if (hits_left.fetch_sub(1) != 1) return;
  // Leaves a mark, so that a test that waits for the death can tell whether it came.
  if (const char* marker = std::getenv(kMarkerVariable))
    ::close(::open(marker, O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (std::getenv(kStopsVariable) != nullptr) {
    ::raise(SIGSTOP);  // kill() may stop another thread first, while this one runs on
    return;
  }
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();  // the signal may go to another thread first
}

}  // namespace perdure::os
