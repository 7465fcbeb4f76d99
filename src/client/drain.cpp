#include "client/drain.hpp"

#include <cstdio>

#include "base/bytes.hpp"

namespace perdure::client {

base::Result<Left> drain(const DrainCalls& calls, DrainRoles roles, std::uint64_t timeout_ns) {
  const std::uint64_t begun_ns = calls.now_ns();
  base::Result<Left> left = Left{};
  if (roles.leads) left = calls.ask(timeout_ns);
  calls.meet();
  if (!left || !roles.leads || !roles.retains) return left;
  // 0 would be for ever: when the time is over the engine still says at once what is left.
  const std::uint64_t passed_ns = calls.now_ns() - begun_ns;
  const std::uint64_t rest_ns = passed_ns < timeout_ns ? timeout_ns - passed_ns : 1;
  return calls.ask(timeout_ns == 0 ? 0 : rest_ns);
}

base::Error left_behind(const Left& left, const std::string& store, const std::string& node_directory,
                        double drain_timeout_s) {
  const bool one = left.versions == 1;
  char limit[64];
  std::snprintf(limit, sizeof limit, "%g", drain_timeout_s);
  std::string cause = std::to_string(left.versions) + (one ? " checkpoint (" : " checkpoints (") +
                      base::format_bytes(left.bytes) + ") did not reach the store";
  if (drain_timeout_s > 0) cause += " within engine.drain_timeout, " + std::string(limit) + " s";
  if (!left.why.empty()) cause += ", because: " + left.why;
  cause += "; they are kept on this node in " + node_directory;
  return {PERDURE_UNAVAILABLE, store, cause,
          "mend the store and start the program again on the same nodes with the same job, which flushes them", true};
}

}  // namespace perdure::client
