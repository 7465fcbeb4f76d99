#pragma once
// Errors are values. Every failure carries a code, the object it is about, the cause, what to do, and whether trying
// again can help. Nothing in the library throws on purpose, exits, aborts or prints.
#include <exception>
#include <string>
#include <tl/expected.hpp>
#include <type_traits>
#include <utility>

#include "perdure/perdure.h"

namespace perdure::base {

/// The codes are those of the C API (perdure.h), so that no table has to translate them.
using ErrorCode = perdure_status;
inline constexpr ErrorCode kLastErrorCode = PERDURE_INCOMPLETE;

struct Error {
  ErrorCode code = PERDURE_INTERNAL;
  std::string object;      ///< a path, "region 3", "nbody version 7"
  std::string cause;       ///< a sentence without full stop
  std::string remedy;      ///< advice for the user, or empty
  bool retryable = false;  ///< true if the same call can succeed later although nothing was changed

  /// Returns "OBJECT: CAUSE (CODE); REMEDY" as one line, without characters that drive a terminal (printable.hpp).
  std::string text() const;
};

/// A value or an Error; callers must not ignore it. A copy throws if memory for it is refused. tl::expected would copy
/// within noexcept functions and so end the program. Result copies first, and moves the copy into place.
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
  using Expected = tl::expected<T, Error>;
  static_assert(std::is_void_v<T> || std::is_nothrow_move_constructible_v<T>, "what moves it is noexcept");

 public:
  using Expected::Expected;
  Result() = default;
  Result(const Result& other) : Expected(copy(other)) {}
  Result(Result&&) noexcept = default;
  Result& operator=(const Result& other) {
    static_assert(std::is_void_v<T> || std::is_move_assignable_v<T>, "else this calls itself");
    if (this != &other) *this = Result(other);
    return *this;
  }
  Result& operator=(Result&&) noexcept = default;
  ~Result() = default;

 private:
  static Expected copy(const Result& other) {
    if (!other) return tl::unexpected<Error>(other.error());
    if constexpr (std::is_void_v<T>)
      return {};
    else
      return Expected(tl::in_place, T(*other));
  }
};

using Status = Result<void>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string object, std::string cause, std::string remedy = {},
                                  bool retryable = false) {
  return tl::unexpected<Error>(Error{code, std::move(object), std::move(cause), std::move(remedy), retryable});
}
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

/// Describes a failed system call: code, cause and retryability follow from errno (pure).
Error errno_error(int error_number, std::string call, std::string object);

/// Translates an exception of the standard library. Refused memory or threads become PERDURE_NO_SPACE with the limit to
/// raise; unexpected exceptions become PERDURE_INTERNAL.
Error exception_error(const std::exception& exception, std::string object) noexcept;
/// Describes a thrown object that is no exception of the standard library.
Error unknown_exception_error(std::string object) noexcept;

/// Returns the name that errors use for `object`: the text itself, or its `text()`; "" if there is no memory for it.
template <class Object>
std::string text_or_nothing(const Object& object) noexcept {
  try {
    if constexpr (requires { object.text(); })
      return object.text();
    else
      return std::string(object);
  } catch (...) {
    return {};
  }
}

/// Calls `work`, which returns a Result, and turns an exception into an error about `object` (text_or_nothing).
/// `object` has to outlive the call. Use it where others, such as ranks that wait for this one, have to hear of the
/// failure. No exception leaves it, and it needs no memory of its own before something is thrown.
template <class Object, class Work>
auto caught(const Object& object, Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::exception& exception) {
    return fail(exception_error(exception, text_or_nothing(object)));
  } catch (...) {
    return fail(unknown_exception_error(text_or_nothing(object)));
  }
}

/// Runs `work` until its end, or until it throws: one part's failure does not keep the caller from the next part.
template <class Work>
void attempt(Work work) noexcept {
  try {
    work();
  } catch (...) {  // nobody is left to be told
  }
}

/// Returns `error`, or its code alone if there is no memory for the texts. So nobody waits for an error in vain.
Error copy_or_code(const Error& error) noexcept;

/// Returns the name of a code as the command line and messages print it, e.g. "not-found".
const char* code_name(ErrorCode code);

}  // namespace perdure::base

#define PERDURE_CONCAT_(a, b) a##b
#define PERDURE_CONCAT(a, b) PERDURE_CONCAT_(a, b)
/// PERDURE_TRY(auto x, expression): x gets the value, or the enclosing function returns the error.
#define PERDURE_TRY_(tmp, decl, ...)                              \
  auto tmp = (__VA_ARGS__);                                       \
  if (!tmp) return ::perdure::base::fail(std::move(tmp).error()); \
  decl = std::move(*tmp)
#define PERDURE_TRY(decl, ...) PERDURE_TRY_(PERDURE_CONCAT(result_, __COUNTER__), decl, __VA_ARGS__)
/// PERDURE_CHECK(expression): the enclosing function returns the error if there is one.
#define PERDURE_CHECK(...)                                                                                \
  do {                                                                                                    \
    if (auto status_ = (__VA_ARGS__); !status_) return ::perdure::base::fail(std::move(status_).error()); \
  } while (false)
