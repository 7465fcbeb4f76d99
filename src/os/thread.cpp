#include "os/thread.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <system_error>

#include "os/system_call.hpp"

namespace perdure::os {
namespace {

constexpr std::chrono::milliseconds kFirstPause{1}, kLongestPause{100};

int ask(const char* call, const std::string& name) {
  const HeldHooks hooks;
  return hooks ? hooks->before(Call{call, name}.operation()) : 0;
}

// Copes with refused memory for the error itself.
base::Error error_of(const std::exception* thrown, const std::string& name) noexcept {
  try {
    if (thrown != nullptr) return base::exception_error(*thrown, "thread '" + name + "'");
    return base::unknown_exception_error("thread '" + name + "'");
  } catch (...) {
    return {PERDURE_NO_SPACE, {}, {}, {}, true};
  }
}

// Calls the body. Hooks throw to simulate refused memory in a body.
std::optional<base::Error> call(const std::string& name, const std::function<void()>& body) noexcept {
  try {
    if (ask("thread_body", name) != 0) throw std::bad_alloc();
    body();
    return std::nullopt;
  } catch (const std::exception& thrown) {
    return error_of(&thrown, name);
  } catch (...) {
    return error_of(nullptr, name);
  }
}

class Pause {
 public:
  void wait() {
    std::this_thread::sleep_for(next_);
    next_ = std::min(2 * next_, kLongestPause);
  }

 private:
  std::chrono::milliseconds next_ = kFirstPause;
};

// Repeats the report until it succeeds: a waiter that is not told waits for ever, and a loop that cannot report would
// end.
bool tell(const Thread::Failed& failed, const base::Error& why) noexcept {
  for (Pause pause;; pause.wait()) {
    try {
      return failed(why);
    } catch (...) {  // memory is refused here as well, and may come back soon
    }
  }
}

void run(const std::string& name, const std::function<void()>& body, const Thread::Failed& failed) noexcept {
  for (Pause pause;; pause.wait()) {
    const auto why = call(name, body);
    if (!why || !tell(failed, *why)) return;
  }
}

}  // namespace

Thread& Thread::operator=(Thread&& other) noexcept {
  join();
  thread_ = std::move(other.thread_);
  return *this;
}

void Thread::join() {
  if (thread_.joinable()) thread_.join();
}

base::Result<Thread> Thread::start(const std::string& name, std::function<void()> body, Failed failed) {
  try {
    if (const int error = ask("thread", name); error != 0)
      throw std::system_error(error, std::generic_category(), "refused");
    return Thread(std::thread([name, body = std::move(body), failed = std::move(failed)] { run(name, body, failed); }));
  } catch (const std::exception& why) {
    return base::fail(base::exception_error(why, "thread '" + name + "'"));
  }
}

base::Status Threads::start(std::string_view name, std::function<void()> body, Thread::Failed failed) {
  try {
    if (threads_.size() == threads_.capacity()) threads_.reserve(2 * threads_.size() + 1);
    PERDURE_TRY(Thread begun, Thread::start(std::string(name), std::move(body), std::move(failed)));
    threads_.push_back(std::move(begun));
    return {};
  } catch (const std::exception& thrown) {
    return base::fail(error_of(&thrown, {}));
  }
}

base::Status run_aside(const std::string& name, const std::function<void()>& work) {
  base::Status outcome;
  PERDURE_TRY(Thread thread, Thread::start(name, work, [&outcome](const base::Error& why) {
                outcome = base::fail(why);
                return false;
              }));
  thread.join();
  return outcome;
}

}  // namespace perdure::os
