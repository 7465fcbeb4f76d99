#include "engine/serve/background.hpp"

namespace perdure::engine {

void Background::start(std::function<void()> job) {
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    if (!it->over) {
      ++it;
      continue;
    }
    it->thread.join();
    it = jobs_.erase(it);
  }
  Job& started = jobs_.emplace_back();
  started.thread = std::thread([this, &started, job = std::move(job)] {
    job();
    changed_();
    started.over = true;
  });
}

void Background::finish() {
  for (Job& job : jobs_) job.thread.join();
  jobs_.clear();
}

}  // namespace perdure::engine
