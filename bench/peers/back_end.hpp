#pragma once
// What the measured loop asks of a system that makes checkpoints. One file for each system does it, by the public calls
// of that system, and is compiled where CMake finds the system (find_peers.cmake).
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace perdure::peers_bench {

/// Nothing, or why it failed.
using Outcome = tl::expected<void, std::string>;

/// Where a run keeps its checkpoints, and how. The same on all ranks; the directories exist, and are empty.
struct Place {
  std::string run;       ///< a name that no other run has
  std::string node;      ///< on the memory file system
  std::string store;     ///< on the disk
  std::string settings;  ///< the system's own: key=value, separated by semicolons
};

/// Every call is collective. Versions are positive, and each is higher than the one before.
class BackEnd {
 public:
  BackEnd() = default;
  virtual ~BackEnd() = default;
  BackEnd(const BackEnd&) = delete;
  BackEnd& operator=(const BackEnd&) = delete;

  virtual Outcome initialise(const Place& place) = 0;
  /// The memory stays where it is until finish().
  virtual Outcome protect(std::vector<char>& memory) = 0;
  /// Returns when the program may write to the memory again.
  virtual Outcome checkpoint(int version) = 0;
  /// Returns when the system says that all ranks' data is at the store.
  virtual Outcome wait_for_store(int version) = 0;
  /// What it says to be at the store survives a power cut: it calls fsync, or does what comes to the same.
  virtual bool syncs() const = 0;
  /// What restore() needs, and a launch of its own would do before the program comes to it. Is measured apart.
  virtual Outcome prepare_restore(int) { return {}; }
  /// Fills the memory with what it was at checkpoint(version), the newest one, from the node.
  virtual Outcome restore(int version) = 0;
  virtual Outcome finish() = 0;
};

inline tl::unexpected<std::string> failed(std::string why) { return tl::unexpected<std::string>(std::move(why)); }
/// `good`, or the name of the call that failed.
Outcome called(bool good, const char* call);
/// "a=b;c=d" as {"a=b", "c=d"}.
std::vector<std::string> settings_of(const std::string& text);
/// Makes the directory; one that is there is good.
Outcome make_directory(const std::string& path);
/// Writes a small file on rank 0; all ranks return when it is there.
Outcome write_configuration(const std::string& path, const std::string& text);

}  // namespace perdure::peers_bench
