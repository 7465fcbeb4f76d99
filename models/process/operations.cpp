#include "process/operations.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace perdure::process {

void run_operations(const std::vector<Operation>& list, OperationsOutcome* outcome) noexcept {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto& [number, a, b, c, d, e, f] = list[i].call;
    const long answer = ::syscall(static_cast<long>(number), a, b, c, d, e, f);
    outcome->done = i + 1;
    if (list[i].may_fail || answer >= list[i].least) continue;
    outcome->failed = true;
    outcome->error = answer < 0 ? errno : 0;
    return;
  }
}

std::string text_of(const OperationsOutcome& outcome, const std::vector<Operation>& list) {
  if (!outcome.failed || outcome.done == 0 || outcome.done > list.size()) return "";
  const char* error = outcome.error == 0 ? "its answer is not the right one" : ::strerrordesc_np(outcome.error);
  return list[outcome.done - 1].what + ": " + (error != nullptr ? error : std::to_string(outcome.error));
}

}  // namespace perdure::process
