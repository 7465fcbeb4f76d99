#include "engine/serve/background.hpp"

namespace perdure::engine {

base::Status Background::start(std::function<void()> job, std::function<void(const base::Error&)> failed) {
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    if (!it->over) {
      ++it;
      continue;
    }
    it->thread.join();
    it = jobs_.erase(it);
  }
  Job& started = jobs_.emplace_back();
  const auto ended = [this, &started] {
    changed_();
    started.over = true;
  };
  auto begun = os::Thread::start(
      "request",
      [ended, job = std::move(job)] {
        job();
        ended();
      },
      [ended, failed = std::move(failed)](const base::Error& why) {
        failed(why);
        ended();
        return false;
      });
  if (!begun) {
    jobs_.pop_back();
    return base::fail(begun.error());
  }
  started.thread = std::move(*begun);
  return {};
}

void Background::finish() {
  for (Job& job : jobs_) job.thread.join();
  jobs_.clear();
}

}  // namespace perdure::engine
