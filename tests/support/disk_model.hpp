#pragma once
// Models the contents of a disk after a power failure: file contents and directory entries, each in its current and its
// durable state. The model is weaker than any real file system, so code that survives here survives everywhere.
// Directory operations become durable in any order, and only a sync of their directory forces them.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "os/hooks.hpp"

namespace perdure::test_support {

/// A file operation that succeeded. Paths are relative to the root of the recording; "" is the root.
struct DiskOperation {
  std::string call;
  std::string path;
  std::string new_path;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::vector<std::byte> data;
  bool creates = false;    ///< "open" of a missing file
  bool truncates = false;  ///< "open" that empties the file
};

/// Maps relative paths to file contents; directories have none. Parents come before their children.
struct DiskImage {
  std::set<std::string> directories;
  std::map<std::string, std::vector<std::byte>> files;
  void write_to(const std::string& directory) const;
  static DiskImage read_from(const std::string& directory);
  friend bool operator==(const DiskImage&, const DiskImage&) = default;
};

/// The fate of file data that was written but not synced.
enum class UnsyncedData {
  kept,     ///< it reached the disk all the same
  dropped,  ///< files are as of their last sync, empty if there was none
  zeroed,   ///< sizes are right, but the written bytes are zeros
  torn      ///< everything but the second half of each file's last write is there
};

class DiskModel {
 public:
  explicit DiskModel(const DiskImage& start);
  ~DiskModel();
  DiskModel(const DiskModel&) = delete;
  DiskModel& operator=(const DiskModel&) = delete;
  /// Performs the operation; with `lost`, its change of a directory does not reach the disk.
  void apply(const DiskOperation& operation, std::size_t number, bool lost);
  /// Returns the numbers of past directory operations that no sync of their directory has made durable.
  std::vector<std::size_t> unsynced_directory_operations() const;
  DiskImage image(UnsyncedData fate) const;

 private:
  struct Node;
  using NodePointer = std::shared_ptr<Node>;
  NodePointer find(const std::string& path) const;
  void add(const std::string& path, const NodePointer& node, std::size_t number, bool lost);
  void remove(const std::string& path, std::size_t number, bool lost);
  void open(const DiskOperation& operation, std::size_t number, bool lost);
  void change_data(const DiskOperation& operation);
  void sync_directory(const std::string& path);
  static void collect(const Node& node, const std::string& path, UnsyncedData fate, DiskImage& image);

  NodePointer root_;
  std::map<std::string, NodePointer> open_;               ///< by the path under which the file was opened
  std::map<std::size_t, std::set<NodePointer>> pending_;  ///< directory operation -> directories to sync
};

}  // namespace perdure::test_support
