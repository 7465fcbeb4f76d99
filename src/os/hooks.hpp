#pragma once
// The seam through which faults, crash points and recordings come in. Every system call of os/ that touches a file, a
// directory or a socket asks the installed Hooks first. Without hooks the cost is one relaxed load.
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
  std::string path;      ///< of the file the call is about ("rename": the old name)
  std::string new_path;  ///< "rename" only
  std::uint64_t offset = 0;
  base::ConstByteSpan data;  ///< "pwrite" only; valid during the call
  base::ByteSpan target;     ///< "pread" only; in `after` it has what was read, which a test may spoil
  std::uint64_t length = 0;  ///< "ftruncate", "fallocate": the new size
  int flags = 0;             ///< "open"; "pwrite", "pread": O_DIRECT; "rename": RENAME_NOREPLACE: nothing is replaced
};

/// Called by any thread. `before` returns 0 to let the call happen, or an errno that it shall fail with.
class Hooks {
 public:
  virtual ~Hooks() = default;
  virtual int before(const Operation&) { return 0; }
  /// How many of the `asked` bytes a "pwrite" or "pread" moves at most, as a kernel may move fewer than it was asked
  /// to: at least 1.
  virtual std::size_t most(const Operation&, std::size_t asked) { return asked; }
  virtual void after(const Operation&, int /*error_number*/) {}
};

/// Installs (or with nullptr removes) the hooks of this process; the caller keeps ownership. Returns when no thread is
/// in the hooks that were installed before, which may end then: not to be called out of them. For tests and
/// PERDURE_TEST_FAULTS.
void install_hooks(Hooks* hooks);

/// The hooks that are installed, which stay while this is held. Nothing is held across the system call itself, which
/// may take forever.
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

/// Asks the hooks; 0 when there are none.
inline int ask_hooks(const Operation& operation) {
  const HeldHooks hooks;
  return hooks ? hooks->before(operation) : 0;
}

}  // namespace perdure::os
