// Makes the timers of a new process.
#include <signal.h>
#include <sys/syscall.h>

#include <array>
#include <cstring>

#include "process/new_process.hpp"
#include "process/remote_memory.hpp"

namespace perdure::process {

// A new process numbers its timers from 0. So timers are made and deleted until one has the right number.
base::Status NewProcess::make_timer(const PosixTimer& timer) {
  std::array<std::byte, 64> event{};  // struct sigevent: value, signal, notification, thread
  std::memcpy(event.data(), &timer.value, 8);
  std::memcpy(event.data() + 8, &timer.signal, 4);
  std::memcpy(event.data() + 12, &timer.notify, 4);
  std::memcpy(event.data() + 16, &timer.thread, 4);
  PERDURE_TRY(const auto at, put(bytes_of(event)));
  const std::uint64_t number_at = at + event.size();
  for (;;) {
    PERDURE_CHECK(ask({SYS_timer_create, static_cast<std::uint64_t>(timer.clock), at, number_at}, "make a timer of"));
    PERDURE_TRY(const auto made, read_value<std::int32_t>(process_, number_at));
    if (made == timer.id) return {};
    PERDURE_CHECK(ask({SYS_timer_delete, static_cast<std::uint64_t>(made)}, "take back a timer of"));
    if (made > timer.id)
      return base::fail(PERDURE_UNSUPPORTED, process_text(process_), "the kernel numbers timers in another way");
  }
}

// A timer with an interval and no time left has expired: its signal is pending.
base::Status NewProcess::make_timers() {
  for (const PosixTimer& timer : image_->posix_timers) PERDURE_CHECK(make_timer(timer));
  for (const PosixTimer& timer : image_->posix_timers) {
    auto setting = timer.setting;
    if (setting[2] == 0 && setting[3] == 0) setting[2] = setting[0], setting[3] = setting[1];
    PERDURE_TRY(const auto at, put(bytes_of(setting)));
    PERDURE_CHECK(ask({SYS_timer_settime, static_cast<std::uint64_t>(timer.id), 0, at, 0}, "set a timer of"));
  }
  for (const IntervalTimer& timer : image_->timers) {
    PERDURE_TRY(const auto at, put(bytes_of(timer.value)));
    PERDURE_CHECK(ask({SYS_setitimer, timer.which, at, 0}, "set a timer of"));
  }
  return {};
}

}  // namespace perdure::process
