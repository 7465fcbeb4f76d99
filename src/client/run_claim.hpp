#pragma once
// Claims in the store that a process brought back of a checkpoint name runs: two copies of one process would write the
// same files. The record lies beside that of the name's owner, with a lease of the same kind (plan/lease.hpp, ADR
// 0025). It names the running process; the process that watches over it renews it.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "client/messages.hpp"
#include "config/config.hpp"
#include "os/thread.hpp"
#include "store/store.hpp"

namespace perdure::client {

class RunClaim {
 public:
  /// Takes the claim. PERDURE_BUSY: a process brought back of `name` runs already; the text says where. On this machine
  /// that is looked up; for another one it is known within one lease. `again`: takes it in any case. If the store
  /// cannot keep the claim there is none, and note() says why.
  static base::Result<std::unique_ptr<RunClaim>> take(const config::Config& config, const std::string& name,
                                                      bool again);
  RunClaim(const RunClaim&) = delete;
  RunClaim& operator=(const RunClaim&) = delete;
  /// Ends the claim, unless it was left.
  ~RunClaim();

  /// Sets the process that runs from now on.
  void runs(std::int32_t process);
  /// Leaves the process running without us. On this machine everybody sees whether it lives; elsewhere it counts as
  /// dead after a lease.
  void leave();
  const std::string& note() const { return note_; }

 private:
  RunClaim(std::unique_ptr<store::Store> store, std::string name, store::Owner self);
  base::Status try_all(bool again, const Messages& messages);
  bool try_to_take(const std::optional<store::Owner>& there);
  base::Status renew_in_background();
  void set(const store::Owner& next);
  void stop();

  const std::unique_ptr<store::Store> store_;
  const std::string name_;
  std::string note_;
  std::mutex mutex_;
  std::condition_variable wake_;
  store::Owner written_;  // the record in the store
  bool held_ = false, stopping_ = false;
  os::Thread thread_;
};

}  // namespace perdure::client
