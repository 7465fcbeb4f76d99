#include "base/result.hpp"

#include <array>
#include <cerrno>
#include <new>
#include <system_error>

#include "base/printable.hpp"

namespace perdure::base {
namespace {

struct ErrnoRule {
  int number;
  ErrorCode code;
  bool retryable;
  const char* remedy;
};

constexpr const char* kFreeSpace =
    "free space on this file system, or files where it has no more of them (df -i), or set the path elsewhere";
constexpr const char* kFreeMemory = "free memory or raise the memory limit of this job";
constexpr const char* kMoreThreads =
    "raise ulimit -u, or ulimit -v where that is limited, or the limit of processes of this job's control group "
    "(pids.max)";
constexpr const char* kRaiseQuota = "delete files of yours or ask for a larger quota";
constexpr const char* kAccess = "give this user access to the path or set the path elsewhere";
constexpr const char* kReadOnly = "mount the file system writable or set the path elsewhere";
constexpr const char* kNoLinks = "name the real path: symbolic links are not followed here";
constexpr const char* kDescriptors = "raise the limit of open files (ulimit -n)";
constexpr const char* kDevice = "check the device and the system's log";
constexpr const char* kOtherType = "move the object away that is in the way or set the path elsewhere";
constexpr const char* kShorter = "use a shorter path";

// A retryable error can pass although nobody changes anything *here*: other users free space, servers come back,
// devices recover. ENOENT is not retryable: only the caller knows whether a missing file may come back (a store that
// vanished).
constexpr std::array kErrnoRules = {
    ErrnoRule{ENOSPC, PERDURE_NO_SPACE, true, kFreeSpace},
    ErrnoRule{EDQUOT, PERDURE_NO_SPACE, true, kRaiseQuota},
    ErrnoRule{ENOMEM, PERDURE_NO_SPACE, true, kFreeMemory},
    ErrnoRule{EACCES, PERDURE_PERMISSION, false, kAccess},
    ErrnoRule{EPERM, PERDURE_PERMISSION, false, kAccess},
    ErrnoRule{EROFS, PERDURE_PERMISSION, false, kReadOnly},
    ErrnoRule{ELOOP, PERDURE_PERMISSION, false, kNoLinks},
    ErrnoRule{ENOENT, PERDURE_NOT_FOUND, false, ""},
    ErrnoRule{EEXIST, PERDURE_EXISTS, false, ""},
    ErrnoRule{ETIMEDOUT, PERDURE_TIMEOUT, true, ""},
    ErrnoRule{ECONNREFUSED, PERDURE_UNAVAILABLE, true, ""},
    ErrnoRule{ECONNRESET, PERDURE_UNAVAILABLE, true, ""},
    ErrnoRule{ENOTCONN, PERDURE_UNAVAILABLE, true, ""},
    ErrnoRule{EPIPE, PERDURE_UNAVAILABLE, true, ""},
    ErrnoRule{EHOSTDOWN, PERDURE_UNAVAILABLE, true, ""},
    ErrnoRule{EHOSTUNREACH, PERDURE_UNAVAILABLE, true, ""},
    ErrnoRule{ENETUNREACH, PERDURE_UNAVAILABLE, true, ""},
    ErrnoRule{EBUSY, PERDURE_BUSY, true, ""},
    ErrnoRule{EAGAIN, PERDURE_BUSY, true, ""},
    ErrnoRule{EMFILE, PERDURE_IO, true, kDescriptors},
    ErrnoRule{ENFILE, PERDURE_IO, true, kDescriptors},
    ErrnoRule{EIO, PERDURE_IO, true, kDevice},
    ErrnoRule{EREMOTEIO, PERDURE_IO, true, kDevice},
    ErrnoRule{ESTALE, PERDURE_IO, true, ""},
    ErrnoRule{EINTR, PERDURE_IO, true, ""},
    ErrnoRule{ENOLCK, PERDURE_IO, true, ""},
    ErrnoRule{EOPNOTSUPP, PERDURE_UNSUPPORTED, false, ""},
    ErrnoRule{ENOSYS, PERDURE_UNSUPPORTED, false, ""},
    ErrnoRule{ENOTDIR, PERDURE_IO, false, kOtherType},
    ErrnoRule{EISDIR, PERDURE_IO, false, kOtherType},
    ErrnoRule{ENAMETOOLONG, PERDURE_IO, false, kShorter},
    ErrnoRule{EFBIG, PERDURE_IO, false,
              "raise the limit of file sizes (ulimit -f) or use a file system for large files"},
};

constexpr std::array<const char*, kLastErrorCode + 1> kCodeNames = {
    "ok",         "invalid-argument", "not-found", "exists", "mismatch",      "corrupt",     "no-space",    "io",
    "permission", "unavailable",      "timeout",   "closed", "wrong-process", "unsupported", "peer-failed", "busy",
    "internal",   "incomplete"};

}  // namespace

std::string Error::text() const {
  std::string all = object.empty() ? cause : object + ": " + cause;
  all += std::string(" (") + code_name(code) + ")";
  if (!remedy.empty()) all += "; " + remedy;
  return printable(all);
}

Error errno_error(int error_number, std::string call, std::string object) {
  Error error{
      PERDURE_IO, std::move(object), std::move(call) + ": " + std::generic_category().message(error_number), {}, false};
  for (const ErrnoRule& rule : kErrnoRules) {
    if (rule.number != error_number) continue;
    error.code = rule.code;
    error.remedy = rule.remedy;
    error.retryable = rule.retryable;
    break;
  }
  return error;
}

namespace {

// The system reports EAGAIN for a refused thread, whatever it lacks.
Error described(const std::exception& exception, const std::string& object) {
  if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr)
    return {PERDURE_NO_SPACE, object, "the system refuses more memory", kFreeMemory, true};
  if (const auto* error = dynamic_cast<const std::system_error*>(&exception)) {
    if (error->code() == std::errc::resource_unavailable_try_again)
      return {PERDURE_NO_SPACE, object, "the system refuses another thread", kMoreThreads, true};
    if (error->code().category() == std::generic_category() || error->code().category() == std::system_category())
      return errno_error(error->code().value(), "a call of the system", object);
  }
  return {PERDURE_INTERNAL, object, exception.what(), "please report this", false};
}

}  // namespace

// If there is no memory for the error either, returns one that needs none: callers report it to others that wait.
Error exception_error(const std::exception& exception, std::string object) noexcept {
  try {
    return described(exception, object);
  } catch (...) {
    return {PERDURE_NO_SPACE, std::move(object), "out of memory", {}, true};
  }
}

Error unknown_exception_error(std::string object) noexcept {
  try {
    return {PERDURE_INTERNAL, object, "something was thrown that is no exception of the standard library", {}, false};
  } catch (...) {
    return {PERDURE_INTERNAL, std::move(object), {}, {}, false};
  }
}

Error copy_or_code(const Error& error) noexcept {
  try {
    return error;
  } catch (...) {
    return {error.code, {}, {}, {}, error.retryable};
  }
}

const char* code_name(ErrorCode code) {
  const auto index = static_cast<std::size_t>(code);
  return index < kCodeNames.size() ? kCodeNames[index] : "unknown";
}

}  // namespace perdure::base
