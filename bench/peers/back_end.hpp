#pragma once
// Defines the interface between the measured loop and a checkpoint system. One file per system implements it with the
// system's public calls. It is compiled if CMake finds the system (find_peers.cmake).
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace perdure::peers_bench {

/// Success, or the reason of the failure.
using Outcome = tl::expected<void, std::string>;

/// The directories and settings of a run. The same on all ranks; the directories exist, and are empty.
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
  /// The memory must stay in place until finish().
  virtual Outcome protect(std::vector<char>& memory) = 0;
  /// Returns when the program may write to the memory again.
  virtual Outcome checkpoint(int version) = 0;
  /// Returns when the system says that all ranks' data is in the store.
  virtual Outcome wait_for_store(int version) = 0;
  /// Whether data that it calls stored survives a power failure, by fsync or an equivalent.
  virtual bool syncs() const = 0;
  /// Prepares restore(), as a new launch would before the program. Its time is measured separately.
  virtual Outcome prepare_restore(int) { return {}; }
  /// Restores the memory from the node to its content at checkpoint(version), the newest one.
  virtual Outcome restore(int version) = 0;
  virtual Outcome finish() = 0;
};

inline tl::unexpected<std::string> failed(std::string why) { return tl::unexpected<std::string>(std::move(why)); }
/// Returns success if `good`, otherwise an error with the name of the call.
Outcome called(bool good, const char* call);
/// Splits "a=b;c=d" into {"a=b", "c=d"}.
std::vector<std::string> settings_of(const std::string& text);
/// Makes the directory; it may already exist.
Outcome make_directory(const std::string& path);
/// Writes a small file on rank 0; all ranks return when it exists.
Outcome write_configuration(const std::string& path, const std::string& text);

}  // namespace perdure::peers_bench
