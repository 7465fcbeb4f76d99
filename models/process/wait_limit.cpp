#include "process/wait_limit.hpp"

#include <unistd.h>

#include <algorithm>

#include "os/system.hpp"

namespace perdure::process {
namespace {

thread_local std::uint64_t each_wait_ns = 0;  // 0: no limit

void do_nothing(int) {}

}  // namespace

// The timer interrupts repeatedly, because a wait may begin just after a signal.
WaitLimit::WaitLimit(std::uint64_t each_ns) : outer_ns_(each_wait_ns) {
  each_wait_ns = each_ns;
  struct sigaction interrupts {};
  interrupts.sa_handler = do_nothing;  // without SA_RESTART
  ::sigaction(SIGALRM, &interrupts, &before_);
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  ::pthread_sigmask(SIG_UNBLOCK, &alarm, &mask_);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGALRM;
  event._sigev_un._tid = ::gettid();
  armed_ = ::timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
  if (!armed_) return;
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const std::uint64_t tick = std::min(kSecond, each_ns / 2);
  const timespec each{static_cast<time_t>(tick / kSecond), static_cast<long>(tick % kSecond)};
  const itimerspec setting{each, each};
  ::timer_settime(timer_, 0, &setting, nullptr);
}

WaitLimit::~WaitLimit() {
  if (armed_) ::timer_delete(timer_);
  ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  ::sigaction(SIGALRM, &before_, nullptr);
  each_wait_ns = outer_ns_;
}

bool WaitLimit::is_over(std::uint64_t begun_ns) {
  return each_wait_ns != 0 && os::monotonic_ns() - begun_ns >= each_wait_ns;
}

}  // namespace perdure::process
