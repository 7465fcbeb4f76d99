#pragma once
// Waits, at the end of a handle, for the flushes of all nodes, and tells people about it meanwhile. Pure but for the
// calls.
#include <cstdint>
#include <functional>
#include <string>

#include "base/fields.hpp"
#include "base/result.hpp"

namespace perdure::client {

/// The data that the engine of a node has not stored, as it answers ipc::Drain.
struct Left {
  bool done = true;            ///< nothing is under way: the rest was abandoned
  std::uint64_t versions = 0;  ///< versions that are not in the store
  std::uint64_t bytes = 0;     ///< bytes of these versions
  std::uint64_t written = 0;   ///< bytes of these already written by the flushes under way
  std::string which;           ///< their names and numbers
  std::string why;             ///< error of their last flush, if it failed
  PERDURE_FIELDS(done, versions, bytes, written, which, why)
};

/// The data that all nodes of a job have not stored.
struct LeftByAll {
  std::uint64_t nodes = 0;               ///< nodes that are not done
  std::uint64_t bytes = 0, written = 0;  ///< bytes of these nodes
  bool over = false;                     ///< the time is over on some node
  Left first = {};                       ///< report of the first of these nodes
};

/// Gives the same for a node that ends without the others.
LeftByAll left_by_one(const Left& mine, bool over);

struct DrainCalls {
  std::function<base::Result<Left>(std::uint64_t timeout_ns)> ask;  ///< this node's engine; 0: for ever
  /// [collective] Waits for the other nodes. `over`: the time of this one is over.
  std::function<base::Result<LeftByAll>(const Left& mine, bool over)> meet;
  std::function<void(const std::string& text)> say;  ///< tells people, for all ranks; called on one of them
  std::function<std::uint64_t()> now_ns;
};

struct DrainRoles {
  bool leads = false;    ///< this rank asks its node's engine
  bool retains = false;  ///< it asks again when all nodes have stored their part, as retention may look only then
  bool speaks = false;
};

/// The store and the time limit (0: for ever), for texts and waits.
struct DrainLimits {
  std::string store;
  double timeout_s = 0;
  std::uint64_t timeout_ns() const;
};

/// Waits for the flushes, and gives the rest that is left on this node. All waits together take no longer than the
/// time-out, whatever other nodes do meanwhile. All nodes meet at once, after a second, and then ever less often, up to
/// once a minute.
base::Result<Left> drain(const DrainCalls& calls, DrainRoles roles, const DrainLimits& limits);

/// Makes close()'s error for data that is left.
base::Error left_behind(const Left& left, const DrainLimits& limits, const std::string& node_directory);

}  // namespace perdure::client
