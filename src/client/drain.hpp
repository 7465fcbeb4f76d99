#pragma once
// How the end of a handle waits for the flush of its node. Pure but for the calls.
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.hpp"

namespace perdure::client {

/// What an engine answers to ipc::Drain.
struct Left {
  std::uint64_t versions = 0;  ///< that are not in the store
  std::uint64_t bytes = 0;
  std::string why;  ///< their last flush failed, if one did
};

struct DrainCalls {
  std::function<base::Result<Left>(std::uint64_t timeout_ns)> ask;  ///< 0: for ever
  std::function<void()> meet;                                       ///< waits for the other nodes
  std::function<std::uint64_t()> now_ns;
};

struct DrainRoles {
  bool leads = false;    ///< this rank asks its node's engine
  bool retains = false;  ///< and again when all nodes have stored their part, as retention may look only then
};

/// All waits together take no longer than `timeout_ns` (0: for ever), whatever other nodes do meanwhile.
base::Result<Left> drain(const DrainCalls& calls, DrainRoles roles, std::uint64_t timeout_ns);

/// What close() says when something is left.
base::Error left_behind(const Left& left, const std::string& store, const std::string& node_directory,
                        double drain_timeout_s);

}  // namespace perdure::client
