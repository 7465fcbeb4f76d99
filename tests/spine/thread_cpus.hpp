#pragma once
// Reads from the kernel which processors the threads of a process run on.
#include <unistd.h>

#include <map>
#include <thread>

#include "damage.hpp"
#include "os/affinity.hpp"
#include "support/eventually.hpp"

namespace perdure::test_support {

using Threads = std::map<int, os::CpuSet>;

// Returns the processors of each thread. Threads that end meanwhile are left out.
inline Threads threads_of(int pid) {
  Threads threads;
  std::error_code error;
  for (fs::directory_iterator it("/proc/" + std::to_string(pid) + "/task", error), end; !error && it != end;
       it.increment(error)) {
    std::ifstream status(it->path() / "status");
    const std::string field = "Cpus_allowed_list:";
    for (std::string line; std::getline(status, line);)
      if (line.starts_with(field))
        threads[std::stoi(it->path().filename())] = os::CpuSet::parse(line.substr(field.size())).value();
  }
  return threads;
}

inline os::CpuSet first_of(const os::CpuSet& cpus) {
  unsigned number = 0;
  while (!cpus.contains(number)) ++number;
  return {number};
}

inline bool all_on(const os::CpuSet& wanted, const Threads& threads, const char* whose) {
  for (const auto& [thread, cpus] : threads) {
    if (cpus == wanted) continue;
    std::fprintf(stderr, "%s: thread %d runs on %s, not on %s\n", whose, thread, cpus.text().c_str(),
                 wanted.text().c_str());
    return false;
  }
  return true;
}

// One rank's application: its threads from before and after the engine's start.
class Application {
 public:
  explicit Application(os::CpuSet bound) : bound_(std::move(bound)) {
    begin_thread();
    // Includes a sanitizer's own thread, which begins with the first other thread and may run elsewhere.
    for (const auto& [thread, cpus] : threads_of(::getpid())) known_.emplace(thread, cpus);
  }
  ~Application() {
    over_ = true;
    over_.notify_all();
    for (auto& thread : threads_) thread.join();
  }
  /// Starts a thread of the application, whose affinity must stay.
  void begin_thread() {
    std::atomic<int> id = 0;
    threads_.emplace_back([&] {
      id = ::gettid();
      over_.wait(false);
    });
    (void)eventually("the thread has begun", [&] { return id != 0; });
    known_[id] = bound_;
  }
  bool stayed() const {
    const auto threads = threads_of(::getpid());
    for (const auto& [thread, cpus] : known_)
      if (threads.contains(thread) && !all_on(cpus, {*threads.find(thread)}, "application")) return false;
    return threads.contains(::getpid());
  }
  /// Returns the threads that the library started.
  Threads others() const {
    auto threads = threads_of(::getpid());
    std::erase_if(threads, [this](const auto& entry) { return known_.contains(entry.first); });
    return threads;
  }
  /// Whether the library's threads run on `wanted`. Threads that work ahead for a rank run on its near part. They move
  /// by themselves, so one that just began is checked again.
  bool others_run_on(const os::CpuSet& wanted) const {
    const os::CpuSet near = wanted & os::cpus_near(bound_);
    Threads others_left;
    const bool all = eventually("the engine's threads run on " + wanted.text(), [&] {
      others_left = others();
      std::erase_if(others_left, [&](const auto& entry) { return entry.second == wanted || entry.second == near; });
      return others_left.empty();
    });
    return all || all_on(wanted, others_left, "engine");
  }

 private:
  os::CpuSet bound_;
  Threads known_;  // with the affinity that each must keep
  std::atomic<bool> over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace perdure::test_support
