#include "client/signals.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <mutex>

namespace perdure::client {
namespace {

constexpr std::array kTaken{SIGTERM, SIGINT, SIGUSR1};

// The handler reads and writes these. It may run at any moment, on any thread.
std::atomic<std::uint64_t> signals_asked{0};
std::atomic<std::int64_t> end_asked_ns{0};  // the first one; 0: none
std::atomic<std::int64_t> together_ns{0};
std::atomic<pid_t> taker{0};  // the process that takes signals, not the children that it forks; 0: none, and our
                              // handler stands for the program's
std::array<struct sigaction, kTaken.size()> programs_actions{};
// A handler of the program that came while ours was there may pass signals on to ours for ever. Later handles put ours
// in front of it again. Signals that come back then get the handler that was there before both.
std::array<bool, kTaken.size()> given_out{};                   // ours was installed, and not taken out again
std::array<struct sigaction, kTaken.size()> actions_behind{};  // actions before ours was given out
std::array<std::atomic<bool>, kTaken.size()> in_front_again{};
std::array<std::atomic<pid_t>, kTaken.size()> passing_on{};  // the thread that is in the program's handler
std::mutex holders_mutex;
int signal_holders = 0;
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<pid_t>::is_always_lock_free);

std::int64_t handler_now_ns() {
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

bool has_handler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

// Runs the program's handler, or the system's default if there is none.
void as_before(const struct sigaction& action, int signal, siginfo_t* info, void* context) {
  if ((action.sa_flags & SA_SIGINFO) != 0) return action.sa_sigaction(signal, info, context);
  if (has_handler(action)) return action.sa_handler(signal);
  (void)::sigaction(signal, &action, nullptr);
  (void)::raise(signal);  // it is blocked until the handler returns
}

// Tells whether this one is to be obeyed, not noted.
bool comes_again(int signal) {
  if (signal == SIGUSR1) return false;
  std::int64_t none = 0;
  const std::int64_t now = handler_now_ns();
  return !end_asked_ns.compare_exchange_strong(none, now) && now - none > together_ns;
}

extern "C" void perdure_client_on_signal(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  for (std::size_t i = 0; i < kTaken.size(); ++i) {
    if (kTaken[i] != signal) continue;
    const bool comes_back = in_front_again[i] && passing_on[i] == ::gettid();
    const bool obeys = taker != ::getpid() || comes_again(signal);
    if (!obeys && !comes_back) ++signals_asked;
    const struct sigaction& next = comes_back ? actions_behind[i] : programs_actions[i];
    if (!obeys && !has_handler(next)) continue;
    const pid_t outer = passing_on[i].exchange(::gettid());
    as_before(next, signal, info, context);
    passing_on[i] = outer;
  }
  errno = error;
}

bool is_our_handler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == perdure_client_on_signal;
}

// A handler of the program keeps the flags that it had asked for.
struct sigaction in_front_of(const struct sigaction& program) {
  struct sigaction mine = {};
  mine.sa_sigaction = perdure_client_on_signal;
  mine.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&mine.sa_mask);
  if (!has_handler(program)) return mine;
  mine.sa_mask = program.sa_mask;
  mine.sa_flags = SA_SIGINFO | (program.sa_flags & (SA_RESTART | SA_ONSTACK | SA_NODEFER));
  return mine;
}

}  // namespace

// Reads first, then sets: a signal may come in between.
Signals::Signals(std::chrono::nanoseconds together) {
  const std::lock_guard guard(holders_mutex);
  const bool first = signal_holders++ == 0 || taker != ::getpid();
  if (!first) return;
  end_asked_ns = 0;
  together_ns = together.count();
  taker = ::getpid();
  for (std::size_t i = 0; i < kTaken.size(); ++i) {
    struct sigaction now = {};
    if (::sigaction(kTaken[i], nullptr, &now) != 0 || is_our_handler(now)) continue;
    in_front_again[i] = given_out[i] && has_handler(now);
    programs_actions[i] = now;
    if (!in_front_again[i]) actions_behind[i] = now;
    const bool ignored = (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_IGN;
    if (ignored) continue;
    const struct sigaction mine = in_front_of(now);
    given_out[i] = ::sigaction(kTaken[i], &mine, nullptr) == 0 || given_out[i];
  }
}

Signals::~Signals() {
  const std::lock_guard guard(holders_mutex);
  if (--signal_holders > 0) return;
  taker = 0;  // also where a handler of the program calls ours later, or puts it back
  for (std::size_t i = 0; i < kTaken.size(); ++i) {
    struct sigaction now = {};
    if (::sigaction(kTaken[i], nullptr, &now) != 0 || !is_our_handler(now)) continue;
    (void)::sigaction(kTaken[i], &programs_actions[i], nullptr);
    given_out[i] = in_front_again[i];
    programs_actions[i] = actions_behind[i];
    in_front_again[i] = false;
  }
}

std::uint64_t Signals::asked() const { return signals_asked; }

bool Signals::end_asked() const { return end_asked_ns != 0; }

}  // namespace perdure::client
