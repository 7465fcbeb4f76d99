// Reads timers of timer_create from a process that stands still.
#include <sys/syscall.h>

#include "process/posix_timers.hpp"
#include "process/scratch.hpp"

namespace perdure::process {

base::Result<std::vector<PosixTimer>> read_timers(std::string_view text, Scratch& scratch, const std::string& object) {
  auto timers = parse_timers(text);
  if (!timers) return base::fail(PERDURE_INTERNAL, object, "what the kernel says of its timers is not understood");
  for (PosixTimer& timer : *timers) {
    PERDURE_TRY(const auto asked,
                scratch.ask({SYS_timer_gettime, static_cast<std::uint64_t>(timer.id), scratch.address()}));
    if (asked < 0) return base::fail(base::errno_error(static_cast<int>(-asked), "ask for its timers", object));
    PERDURE_TRY(timer.setting, scratch.value<decltype(timer.setting)>());
    if (auto wrong = timer.wrong(); !wrong.empty()) return base::fail(PERDURE_UNSUPPORTED, object, "a timer: " + wrong);
  }
  return std::move(*timers);
}

}  // namespace perdure::process
