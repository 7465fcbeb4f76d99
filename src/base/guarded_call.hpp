#pragma once
// Exceptions end where they would do harm: between two collective calls, where other ranks would wait for ever for the
// one that left, and at the top of a thread, where they would end the application.
#include <exception>
#include <new>
#include <system_error>
#include <type_traits>

#include "base/result.hpp"

namespace perdure::base {

/// What an exception says as an error: memory and threads that the system refuses are PERDURE_NO_SPACE.
inline Error error_of(const std::exception_ptr& thrown, const std::string& object) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    return {PERDURE_NO_SPACE, object, "the system refused working memory",
            "free memory, or raise its limit (ulimit -v, the job's cgroup)", true};
  } catch (const std::system_error& error) {
    return {PERDURE_NO_SPACE, object, std::string("the system refused a thread or another resource: ") + error.what(),
            "raise the limits of processes and memory (ulimit -u, pids.max, ulimit -v)", true};
  } catch (const std::exception& error) {
    return {PERDURE_INTERNAL, object, error.what(), "please report this", false};
  } catch (...) {
    return {PERDURE_INTERNAL, object, "an exception of unknown type", "please report this", false};
  }
}

/// The Status or Result of `call`, or what it threw as an error about `object`.
template <class Call>
std::invoke_result_t<Call> without_exceptions(const char* object, Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (...) {
    return fail(error_of(std::current_exception(), object));
  }
}

}  // namespace perdure::base
