#pragma once
// Records the file operations of this process below one directory, for crash_states.hpp to replay.
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "support/disk_model.hpp"

namespace perdure::test_support {

/// Is installed as the process's hooks while it lives. It records neither failed operations nor those outside `root`.
class OperationLog : public os::Hooks {
 public:
  /// Takes everything below `root` now as durable. `root` is an absolute path of an existing directory.
  explicit OperationLog(std::string root);
  ~OperationLog() override;
  OperationLog(const OperationLog&) = delete;
  OperationLog& operator=(const OperationLog&) = delete;
  int before(const os::Operation& operation) override;
  void after(const os::Operation& operation, int error_number) override;

  /// Records a promise made at this point, e.g. "version 3 committed": it must hold in every state from here on.
  void mark(const std::string& promise);
  /// Changes the recording, for tests that check whether a mistake would be noticed. Marks keep their places when
  /// operations are removed or added.
  void alter(const std::function<void(std::vector<DiskOperation>&)>& change) { change(operations_); }

  struct Mark {
    std::size_t operations;  ///< number of operations before the mark
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
