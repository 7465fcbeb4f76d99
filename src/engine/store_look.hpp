#pragma once
// Looks which versions the store has all of, whoever brought them there. A store may take long to answer, or never do:
// the thread that asks it does nothing else.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "store/store.hpp"

namespace perdure::engine {

class StoreLook {
 public:
  /// `whole` is called without any lock for each attempt that is whole, judged by the names of its segments. A look
  /// comes `delay_ns` after it was asked for, however often that was.
  StoreLook(store::Store& store, std::uint64_t delay_ns, std::function<void(const segment::VersionId&)> whole);
  ~StoreLook() { stop(); }
  void ask(const std::string& name);
  void stop();

 private:
  void run();

  store::Store& store_;
  std::uint64_t delay_ns_;
  std::function<void(const segment::VersionId&)> whole_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::set<std::string> asked_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace perdure::engine
