#pragma once
// The handles of this process. A perdure_t* is a number in this table, not an address, so that a call with a closed
// handle is an error and not a crash (docs/adr/0001).
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "client/session.hpp"

namespace perdure::capi {

/// Whose communicator a handle has.
enum class Group { own, callers };

struct Handle {
  Handle(std::int32_t opener, Group of) : process(opener), group(of) {}
  const std::int32_t process;  ///< that opened it
  const Group group;
  std::timed_mutex mutex;
  std::atomic<std::thread::id> caller = {};  ///< that holds the mutex
  std::unique_ptr<client::Session> session;
  std::string error_text;
  bool error_retryable = false;
  std::optional<base::ErrorCode> closed_early;  ///< somebody else than its owner closed it: what the owner hears
};

/// Holds a handle, and says which thread does.
class HandleLock {
 public:
  explicit HandleLock(Handle& handle) : handle_(handle), lock_(handle.mutex) { note(); }
  /// Not for longer than `patience`, and not at all where this thread has it: see held().
  HandleLock(Handle& handle, std::chrono::milliseconds patience)
      : handle_(handle),
        lock_(handle.caller == std::this_thread::get_id() ? std::unique_lock(handle.mutex, std::defer_lock)
                                                          : std::unique_lock(handle.mutex, patience)) {
    note();
  }
  ~HandleLock() {
    if (held()) handle_.caller = std::thread::id();
  }
  HandleLock(const HandleLock&) = delete;
  HandleLock& operator=(const HandleLock&) = delete;
  bool held() const { return lock_.owns_lock(); }

 private:
  void note() {
    if (held()) handle_.caller = std::this_thread::get_id();
  }
  Handle& handle_;
  std::unique_lock<std::timed_mutex> lock_;
};

perdure_t* add_handle(std::shared_ptr<Handle> handle);
std::shared_ptr<Handle> find_handle(perdure_t* handle);
/// Takes the handle out of the table; nothing when it is not there.
std::shared_ptr<Handle> take_handle(perdure_t* handle);
/// Those in the table, in the reverse order in which they came.
std::vector<std::shared_ptr<Handle>> all_handles();

}  // namespace perdure::capi
