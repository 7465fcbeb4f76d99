#pragma once
// A thread of the first node's engine keeps the store in order. It removes leftovers of killed processes, and applies
// retention to the names that its own job writes. Other jobs may use the same store with their own policies.
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <string>

#include "engine/ledger/reports.hpp"
#include "engine/upkeep/retention.hpp"
#include "engine/upkeep/retention_queue.hpp"
#include "os/thread.hpp"

namespace perdure::engine {

class Janitor {
 public:
  Janitor(store::Store& store, Reports& reports, plan::RetentionPolicy policy, std::function<void()> idle);
  ~Janitor() { stop(); }
  const base::Status& started() const { return started_; }  ///< of its thread; without the thread nothing is retired
  /// Makes this engine responsible for the store: cleans it, and applies retention to the names given so far and from
  /// now on. Repeatable.
  void activate();
  /// The job writes versions of `name`, and one of them was just stored or is held.
  void enforce_retention(const std::string& name);
  void enforce_all();                                 ///< once more for every name given so far
  bool idle();                                        ///< nothing to do now (something may be due later)
  bool settled();                                     ///< idle, and nothing is due later
  std::uint64_t retired() const { return retired_; }  ///< versions removed from the store so far
  void stop();

 private:
  void run();
  bool failed(const base::Error& why);
  void enforce_one(const std::string& name);
  base::Result<RetentionDecision> retire_old(const std::string& name);
  void clean_store();
  base::Result<std::vector<JudgedListing>> judge(const std::string& name, const std::vector<plan::Fork>& forks,
                                                 const std::vector<segment::VersionId>& aside);

  store::Store& store_;
  Reports& reports_;
  plan::RetentionPolicy policy_;
  std::function<void()> idle_;
  std::mutex mutex_;
  std::condition_variable wake_;
  RetentionQueue queue_;
  bool busy_ = false, stopping_ = false;
  std::set<std::string> failing_;  // names whose trouble was reported; used by the thread alone
  std::atomic<std::uint64_t> retired_ = 0;
  base::Status started_;
  os::Thread thread_;
};

}  // namespace perdure::engine
