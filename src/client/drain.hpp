#pragma once
// How the end of a handle waits for the flushes of all nodes, and what it says meanwhile. Pure but for the calls.
#include <cstdint>
#include <functional>
#include <string>

#include "base/fields.hpp"
#include "base/result.hpp"

namespace perdure::client {

/// What the engine of a node has left, as it answers ipc::Drain.
struct Left {
  bool done = true;            ///< nothing is under way: what is left was given up
  std::uint64_t versions = 0;  ///< that are not in the store
  std::uint64_t bytes = 0;     ///< of them
  std::uint64_t written = 0;   ///< of these, by the flushes that are under way
  std::string which;           ///< their names and numbers
  std::string why;             ///< their last flush failed, if one did
  PERDURE_FIELDS(done, versions, bytes, written, which, why)
};

/// What all nodes of a job have left together.
struct LeftByAll {
  std::uint64_t nodes = 0;               ///< that are not done
  std::uint64_t bytes = 0, written = 0;  ///< of these nodes
  bool over = false;                     ///< for some node the time is
  Left first = {};                       ///< of the first of them
};

/// Where a node ends without the others: all that is left is its own.
LeftByAll left_by_one(const Left& mine, bool over);

struct DrainCalls {
  std::function<base::Result<Left>(std::uint64_t timeout_ns)> ask;  ///< this node's engine; 0: for ever
  /// [collective] Waits for the other nodes. `over`: for this one the time is.
  std::function<base::Result<LeftByAll>(const Left& mine, bool over)> meet;
  std::function<void(const std::string& text)> say;  ///< to people, for all ranks; called on one of them
  std::function<std::uint64_t()> now_ns;
};

struct DrainRoles {
  bool leads = false;    ///< this rank asks its node's engine
  bool retains = false;  ///< and again when all nodes have stored their part, as retention may look only then
  bool speaks = false;
};

/// Where to, and how long at most (0: for ever), for what is said.
struct DrainLimits {
  std::string store;
  double timeout_s = 0;
  std::uint64_t timeout_ns() const;
};

/// What is left on this node in the end. All waits together take no longer than the time-out, whatever other nodes do
/// meanwhile. All nodes meet at once, after a second, and then ever less often, up to once a minute.
base::Result<Left> drain(const DrainCalls& calls, DrainRoles roles, const DrainLimits& limits);

/// What close() says when something is left.
base::Error left_behind(const Left& left, const DrainLimits& limits, const std::string& node_directory);

}  // namespace perdure::client
