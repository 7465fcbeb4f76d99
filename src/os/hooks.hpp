#pragma once
// Tests inject faults and crash points, and record calls, through this seam. Every system call of os/ that touches a
// file, a directory or a socket asks the installed Hooks first. Without hooks the cost is one relaxed load.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/bytes.hpp"

namespace perdure::os {

/// One file operation, as hooks see it.
struct Operation {
  /// "open", "pwrite", "pread", "fsync", "fdatasync", "rename", "unlink", "mkdir", "rmdir", "ftruncate", "fallocate",
  /// "fsync_dir", "connect", "send", ...
  const char* call;
  std::string path;      ///< the path of the file ("rename": the old name)
  std::string new_path;  ///< "rename" only
  std::uint64_t offset = 0;
  base::ConstByteSpan data;  ///< "pwrite" only; valid during the call
  base::ByteSpan target;     ///< "pread" only; in `after` it has the bytes read, which a test may spoil
  std::uint64_t length = 0;  ///< "ftruncate", "fallocate": the new size
  int flags = 0;             ///< "open"; "pwrite", "pread": O_DIRECT; "rename": RENAME_NOREPLACE
};

/// Any thread may call hooks. `before` returns 0 to let the call happen, or the errno to fail it with.
class Hooks {
 public:
  virtual ~Hooks() = default;
  virtual int before(const Operation&) { return 0; }
  /// Returns how many of the `asked` bytes a "pwrite" or "pread" moves at most, at least 1. Kernels move fewer bytes,
  /// too.
  virtual std::size_t most(const Operation&, std::size_t asked) { return asked; }
  virtual void after(const Operation&, int /*error_number*/) {}
};

/// Installs the hooks of this process, or removes them (nullptr); the caller keeps ownership. When it returns, no
/// thread is in the previous hooks, which may be destroyed. Hooks must not call it. It serves tests and
/// PERDURE_TEST_FAULTS.
void install_hooks(Hooks* hooks);

/// Holds the installed hooks: they stay while it lives. It does not live across the system call itself, which may take
/// forever.
class HeldHooks {
 public:
  HeldHooks();
  ~HeldHooks();
  HeldHooks(const HeldHooks&) = delete;
  HeldHooks& operator=(const HeldHooks&) = delete;
  explicit operator bool() const { return hooks_ != nullptr; }
  Hooks* operator->() const { return hooks_; }
  Hooks* get() const { return hooks_; }

 private:
  Hooks* hooks_;
};

/// Asks the hooks; 0 if there are none.
inline int ask_hooks(const Operation& operation) {
  const HeldHooks hooks;
  return hooks ? hooks->before(operation) : 0;
}

}  // namespace perdure::os
