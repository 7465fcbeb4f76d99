#include "automatic/signals.hpp"

#include <atomic>
#include <cstdlib>
#include <iterator>

namespace perdure::automatic {
namespace {

constexpr int kTaken[] = {SIGTERM, SIGINT, SIGUSR1};

std::atomic<int> end_by{0};
std::atomic<bool> asked{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void end_now(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

extern "C" void perdure_automatic_on_signal(int signal) {
  asked = true;
  if (signal == SIGUSR1) return;
  int none = 0;
  if (!end_by.compare_exchange_strong(none, signal)) end_now(signal);
}

}  // namespace

Signals::Signals() {
  end_by = 0;
  asked = false;
  struct sigaction mine = {};
  mine.sa_handler = perdure_automatic_on_signal;
  mine.sa_flags = SA_RESTART;
  sigemptyset(&mine.sa_mask);
  for (std::size_t i = 0; i < std::size(kTaken); ++i) ::sigaction(kTaken[i], &mine, &before_[i]);
}

Signals::~Signals() {
  for (std::size_t i = 0; i < std::size(kTaken); ++i) ::sigaction(kTaken[i], &before_[i], nullptr);
}

bool Signals::checkpoint_asked() { return asked.exchange(false); }

bool Signals::end_asked() const { return end_by != 0; }

void Signals::end() {
  const int signal = end_by == 0 ? SIGTERM : end_by.load();
  end_now(signal);
  // Where it was blocked.
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
  std::abort();
}

}  // namespace perdure::automatic
