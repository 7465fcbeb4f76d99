#pragma once
// Runs one system call under the hooks, and repeats it if a signal interrupted it. Private to os/.
#include <algorithm>
#include <cerrno>
#include <string_view>

#include "os/hooks.hpp"

namespace perdure::os {

/// An Operation that owns nothing, so that calls without hooks copy no path.
struct Call {
  const char* call;
  std::string_view path;
  std::string_view new_path = {};
  std::uint64_t offset = 0;
  base::ConstByteSpan data = {};
  base::ByteSpan target = {};
  std::uint64_t length = 0;
  int flags = 0;

  Operation operation() const {
    return {call, std::string(path), std::string(new_path), offset, data, target, length, flags};
  }
};

/// Returns the result of `function` (negative: failed, errno says why). A hook that refuses gives -1 with its errno.
template <class Function>
auto system_call(const Call& call, Function&& function) -> decltype(function()) {
  for (;;) {
    Hooks* asked = nullptr;
    int refused = 0;
    if (const HeldHooks hooks; hooks) {
      asked = hooks.get();
      refused = hooks->before(call.operation());
    }
    const auto result = refused != 0 ? decltype(function()){-1} : function();
    const int error = refused != 0 ? refused : (result < 0 ? errno : 0);
    if (asked != nullptr) {
      const HeldHooks hooks;  // none or others if they were replaced during the call
      if (hooks.get() == asked) hooks->after(call.operation(), error);
      errno = error;
    }
    if (result >= 0 || error != EINTR) return result;
  }
}

/// The kernel transfers at most 0x7ffff000 bytes per call. A round number below that keeps transfers aligned.
inline constexpr std::size_t kMostPerCall = 1U << 30;

/// Returns how many of the `asked` bytes this transfer may move: all, unless the hooks cut it short.
inline std::size_t transferable(const Call& call, std::size_t asked) {
  const HeldHooks hooks;
  return hooks ? std::min(asked, hooks->most(call.operation(), asked)) : asked;
}

/// Rewords the error if the file system of `path` has free room, but no free files (inodes).
base::Error name_what_is_full(base::Error error, const std::string& path);

/// Returns the error of the system call that just failed (errno), about `path`.
inline tl::unexpected<base::Error> call_failed(std::string call, const std::string& path) {
  const int number = errno;
  auto error = base::errno_error(number, std::move(call), path);
  if (number == ENOSPC) error = name_what_is_full(std::move(error), path);
  errno = number;
  return base::fail(std::move(error));
}
inline tl::unexpected<base::Error> call_failed(const char* call, std::uint64_t offset, const std::string& path) {
  return call_failed(std::string(call) + " at offset " + std::to_string(offset), path);
}

/// Runs a call that returns no value; 0 is success.
template <class Function>
base::Status checked_call(const Call& call, Function&& function) {
  if (system_call(call, std::forward<Function>(function)) < 0) return call_failed(call.call, std::string(call.path));
  return {};
}

}  // namespace perdure::os
