#pragma once
// Flushes, or names, the versions that an ended program left on this machine's nodes and that the store lacks.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "config/config.hpp"

namespace perdure::inspect {

/// Unstored versions on one node of this machine.
struct Unstored {
  std::string directory;  ///< directory of its engine
  std::uint64_t versions = 0;
  std::uint64_t bytes = 0;
  std::string which;  ///< their names and numbers
  std::string why;    ///< empty: there was no time
  /// "3 checkpoints (run versions 8 to 10, 12.0 MiB) in /dev/shm/..., because: ..."
  std::string text() const;
};

struct FlushRequest {
  std::function<void(const std::string& line)> announce;  ///< tells people
  std::function<bool(double seconds)> pause;              ///< false: the wait was ended by request
  std::function<std::uint64_t()> now_ns;
};

/// Waits until the engines of the configured job on this machine have stored everything, for no longer than
/// engine.drain_timeout. Starts a perdured if one has died. If nothing is left it costs a look into a directory and the
/// catalogs there.
std::vector<Unstored> flush_unstored(const config::Config& config, const FlushRequest& request);

}  // namespace perdure::inspect
