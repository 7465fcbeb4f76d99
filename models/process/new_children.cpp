#include "process/new_children.hpp"

#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>

#include "process/facts.hpp"
#include "process/stops.hpp"

namespace perdure::process {

namespace {

bool has_no_other(pid_t process, pid_t captor) {
  const auto facts = read_facts(process);
  return facts &&
         std::all_of(facts->children.begin(), facts->children.end(), [&](pid_t child) { return child == captor; });
}

}  // namespace

// The process is asked whether there is any to be waited for: nothing of one that has ended is taken away by that.
base::Status refuse_new_children(Tracee& tracee, pid_t captor) {
  constexpr std::uint64_t kWhetherAny = WEXITED | WNOHANG | WNOWAIT | __WALL;
  PERDURE_TRY(const auto answer, tracee.ask(tracee.threads().front(), {SYS_waitid, P_ALL, 0, 0, kWhetherAny, 0}));
  if (answer == -ECHILD || (captor > 0 && has_no_other(tracee.process(), captor))) return {};
  return base::fail(PERDURE_UNSUPPORTED, process_text(tracee.process()),
                    "it cannot be captured: it has made a child since it was looked at (it would wait for it in vain)",
                    "let its children end, or try again");
}

}  // namespace perdure::process
