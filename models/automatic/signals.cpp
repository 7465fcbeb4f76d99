#include "automatic/signals.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <iterator>

#include "automatic/failure.hpp"

namespace perdure::automatic {
namespace {

constexpr int kTaken[] = {SIGTERM, SIGINT, SIGUSR1};

std::atomic<int> end_by{0};
std::atomic<bool> asked{false}, taken{false};
std::atomic<std::int64_t> end_asked_ns{0}, together_ns{0};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

// Async-signal-safe.
std::int64_t now_ns() {
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

void end_now(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

extern "C" void perdure_automatic_on_signal(int signal) {
  asked = true;
  if (signal == SIGUSR1) return;
  int none = 0;
  if (end_by.compare_exchange_strong(none, signal))
    end_asked_ns = now_ns();
  else if (now_ns() - end_asked_ns > together_ns)
    end_now(signal);
}

}  // namespace

Signals::Signals(std::chrono::nanoseconds together) {
  if (taken.exchange(true))
    throw Failure(PERDURE_INVALID_ARGUMENT, "signals: another tracker or mesh of this process takes them");
  end_by = 0;
  asked = false;
  together_ns = together.count();
  struct sigaction mine = {};
  mine.sa_handler = perdure_automatic_on_signal;
  mine.sa_flags = SA_RESTART;
  sigemptyset(&mine.sa_mask);
  for (std::size_t i = 0; i < std::size(kTaken); ++i) {
    ::sigaction(kTaken[i], &mine, &before_[i]);
    if (before_[i].sa_handler == SIG_IGN) ::sigaction(kTaken[i], &before_[i], nullptr);
  }
}

Signals::~Signals() {
  for (std::size_t i = 0; i < std::size(kTaken); ++i) ::sigaction(kTaken[i], &before_[i], nullptr);
  taken = false;
}

bool Signals::checkpoint_asked() { return asked.exchange(false); }

bool Signals::end_asked() const { return end_by != 0; }

void Signals::end() {
  const int signal = end_by == 0 ? SIGTERM : end_by.load();
  end_now(signal);
  // Unblocks the signal if it was blocked.
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
  std::abort();
}

}  // namespace perdure::automatic
