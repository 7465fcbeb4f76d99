#pragma once
// Records the file operations of this process below one directory, for crash_states.hpp to replay.
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "support/disk_model.hpp"

namespace perdure::test_support {

/// Installed as the process's hooks while it lives. Operations that fail are not recorded, nor are those outside
/// `root`.
class OperationLog : public os::Hooks {
 public:
  /// What is below `root` now is taken as durable. `root` is an absolute path of an existing directory.
  explicit OperationLog(std::string root);
  ~OperationLog() override;
  OperationLog(const OperationLog&) = delete;
  OperationLog& operator=(const OperationLog&) = delete;
  int before(const os::Operation& operation) override;
  void after(const os::Operation& operation, int error_number) override;

  /// Notes that something was promised here, e.g. "version 3 committed": it must hold in every state from here on.
  void mark(const std::string& promise);
  /// Makes another recording of it: for tests that see whether a mistake would be noticed. What is removed or added
  /// moves no mark.
  void alter(const std::function<void(std::vector<DiskOperation>&)>& change) { change(operations_); }

  struct Mark {
    std::size_t operations;  ///< how many came before
    std::string promise;
  };
  const DiskImage& start() const { return start_; }
  const std::vector<DiskOperation>& operations() const { return operations_; }
  const std::vector<Mark>& marks() const { return marks_; }

 private:
  bool relative(const std::string& path, std::string& result) const;

  const std::string root_;
  const DiskImage start_;
  std::mutex mutex_;
  std::vector<DiskOperation> operations_;
  std::vector<Mark> marks_;
};

}  // namespace perdure::test_support
