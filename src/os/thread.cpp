#include "os/thread.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>

#include "os/hooks.hpp"

namespace perdure::os {
namespace {

constexpr std::chrono::milliseconds kFirstPause{1}, kLongestPause{100};

int ask(const char* call, const std::string& name) {
  return installed_hooks() == nullptr ? 0 : ask_hooks({.call = call, .path = name});
}

// What hooks throw is memory that is not there, as it is in a body.
base::Status call(const std::string& name, const std::function<void()>& body) {
  return base::caught("thread '" + name + "'", [&]() -> base::Status {
    if (ask("thread_body", name) != 0) throw std::bad_alloc();
    body();
    return {};
  });
}

// Nothing is left to be told where telling fails, too.
bool tell(const Thread::Failed& failed, const base::Error& why) {
  bool again = false;
  (void)base::caught("thread", [&]() -> base::Status {
    again = failed(why);
    return {};
  });
  return again;
}

void run(const std::string& name, const std::function<void()>& body, const Thread::Failed& failed) noexcept {
  auto pause = kFirstPause;
  try {
    for (;;) {
      const base::Status done = call(name, body);
      if (done || !tell(failed, done.error())) return;
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, kLongestPause);
    }
  } catch (...) {  // not even the error could be made
    try {
      (void)failed({PERDURE_NO_SPACE, {}, {}, {}, true});
    } catch (...) {
    }
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
