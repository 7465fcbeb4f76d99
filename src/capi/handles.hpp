#pragma once
// Keeps the handles of this process. A perdure_t* is a number in this table, not an address. So a call with a closed
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

/// The owner of a handle's communicator.
enum class Group { own, callers };

struct Handle {
  Handle(std::int32_t opener, Group of) : process(opener), group(of) {}
  const std::int32_t process;  ///< the process that opened it
  const Group group;
  std::timed_mutex mutex;
  std::atomic<std::thread::id> caller = {};  ///< the thread that holds the mutex
  std::unique_ptr<client::Session> session;
  std::string error_text;
  bool error_retryable = false;
  std::optional<base::ErrorCode> closed_early;  ///< closed without its owner: the owner's result
};

/// Holds a handle, and records the holding thread.
class HandleLock {
 public:
  explicit HandleLock(Handle& handle) : handle_(handle), lock_(handle.mutex) { note(); }
  /// Waits at most `patience`, and not at all if this thread has it: see held().
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
/// Removes the handle from the table; nothing if it is not there.
std::shared_ptr<Handle> take_handle(perdure_t* handle);
/// Returns those in the table, the newest first.
std::vector<std::shared_ptr<Handle>> all_handles();

}  // namespace perdure::capi
