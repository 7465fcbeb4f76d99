#include "support/operation_log.hpp"

#include <fcntl.h>

#include <filesystem>
#include <set>

namespace perdure::test_support {
namespace {

const std::set<std::string>& recorded_calls() {
  static const std::set<std::string> calls = {"open",  "pwrite", "ftruncate", "fallocate", "fsync",     "fdatasync",
                                              "mkdir", "rmdir",  "rename",    "unlink",    "fsync_dir", "link"};
  return calls;
}

// Whether the file that this thread is about to open with O_CREAT was missing.
thread_local bool opening_creates = false;

}  // namespace

OperationLog::OperationLog(std::string root) : root_(std::move(root)), start_(DiskImage::read_from(root_)) {
  os::install_hooks(this);
}

OperationLog::~OperationLog() { os::install_hooks(nullptr); }

bool OperationLog::relative(const std::string& path, std::string& result) const {
  if (path == root_) {
    result.clear();
    return true;
  }
  if (path.size() <= root_.size() + 1 || !path.starts_with(root_) || path[root_.size()] != '/') return false;
  result = path.substr(root_.size() + 1);
  return true;
}

int OperationLog::before(const os::Operation& operation) {
  if (std::string(operation.call) == "open")
    opening_creates = (operation.flags & O_CREAT) != 0 && !std::filesystem::exists(operation.path);
  return 0;
}

void OperationLog::after(const os::Operation& operation, int error_number) {
  DiskOperation recorded;
  recorded.call = operation.call;
  if (error_number != 0 || !recorded_calls().contains(recorded.call)) return;
  if (!relative(operation.path, recorded.path)) return;
  if ((recorded.call == "rename" || recorded.call == "link") && !relative(operation.new_path, recorded.new_path))
    return;
  recorded.offset = operation.offset;
  recorded.length = operation.length;
  recorded.data.assign(operation.data.begin(), operation.data.end());
  if (recorded.call == "open") {
    recorded.creates = opening_creates;
    recorded.truncates = (operation.flags & O_TRUNC) != 0;
  }
  std::lock_guard lock(mutex_);
  operations_.push_back(std::move(recorded));
}

void OperationLog::mark(const std::string& promise) {
  std::lock_guard lock(mutex_);
  marks_.push_back({operations_.size(), promise});
}

}  // namespace perdure::test_support
