#include "cli/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/bytes.hpp"
#include "os/system.hpp"

namespace perdure::cli {
namespace {

constexpr std::size_t kBarWidth = 24;
constexpr std::chrono::milliseconds kRedraw{100}, kLine{10'000};

std::string time_left(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.0f} h", seconds / 3600);
}

}  // namespace

std::string progress_line(const std::string& what, std::uint64_t done, std::uint64_t total, double elapsed_s) {
  const double part = total == 0 ? 1 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const auto filled = static_cast<std::size_t>(part * kBarWidth);
  std::string line = fmt::format("{} {:3.0f}% [{}{}] {} of {}", what, std::min(part * 100, done < total ? 99.0 : 100.0),
                                 std::string(filled, '='), std::string(kBarWidth - filled, ' '),
                                 base::format_bytes(done), base::format_bytes(total));
  if (elapsed_s <= 0 || done == 0) return line;
  const double rate = static_cast<double>(done) / elapsed_s;
  line += fmt::format(", {}/s", base::format_bytes(static_cast<std::uint64_t>(rate)));
  if (done < total) line += ", " + time_left(static_cast<double>(total - done) / rate) + " left";
  return line;
}

Progress::Progress(Terminal& terminal, std::string what, std::uint64_t total_bytes)
    : terminal_(terminal), what_(std::move(what)), total_(total_bytes), start_ns_(os::monotonic_ns()) {
  auto begun = os::Thread::start(
      "progress",
      [this] {
        std::unique_lock lock(mutex_);
        while (!ended_.wait_for(lock, terminal_.live ? kRedraw : kLine, [this] { return end_; })) show();
      },
      [](const base::Error&) { return false; });
  if (begun) thread_ = std::move(*begun);  // otherwise no progress is shown
}

Progress::~Progress() {
  {
    std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_all();
  thread_.join();
  if (terminal_.live) print_as_it_is(terminal_.err, "\r\x1b[K");  // the summary takes the bar's place
}

double Progress::elapsed_s() const { return static_cast<double>(os::monotonic_ns() - start_ns_) * 1e-9; }

void Progress::show() {
  const std::string line = progress_line(what_, done(), total_, elapsed_s());
  print_as_it_is(terminal_.err, terminal_.live ? "\r" + line + "\x1b[K" : line + "\n");
}

}  // namespace perdure::cli
