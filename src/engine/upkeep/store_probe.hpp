#pragma once
// Asks the store whether it has all of a version, whichever nodes wrote it. A store may answer late or never, so a
// thread does nothing else.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "os/thread.hpp"
#include "store/store.hpp"

namespace perdure::engine {

class StoreProbe {
 public:
  /// Calls `whole`, without any lock, for each requested version that is whole: all manifests verify and agree. The
  /// store is asked `delay_ns` after ask(), once for all calls in that time.
  StoreProbe(store::Store& store, std::uint64_t delay_ns, std::function<void(const segment::VersionId&)> whole);
  ~StoreProbe() { stop(); }
  const base::Status& started() const { return started_; }  ///< of its thread; without the thread nobody is answered
  void ask(const segment::VersionId& id);
  void stop();

 private:
  void run();
  void look_for(const segment::VersionId& id);

  store::Store& store_;
  std::uint64_t delay_ns_;
  std::function<void(const segment::VersionId&)> whole_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<segment::VersionId> asked_;  // a queue without repetitions
  bool stopping_ = false;
  base::Status started_;
  os::Thread thread_;
};

}  // namespace perdure::engine
