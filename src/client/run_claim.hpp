#pragma once
// That what was brought back of a checkpoint name runs, said in the store: two copies of one process would write the
// same files. A record beside that of who writes the versions, with a lease of the same kind (plan/lease.hpp, ADR
// 0025), which names the process that runs; whoever watches over it renews it.
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
  /// PERDURE_BUSY: what was brought back of `name` runs already, and who has it: on this machine that is looked up, of
  /// another one it is known within one lease. `again`: whoever runs it. Where the store cannot keep it there is no
  /// claim, and note() says why.
  static base::Result<std::unique_ptr<RunClaim>> take(const config::Config& config, const std::string& name,
                                                      bool again);
  RunClaim(const RunClaim&) = delete;
  RunClaim& operator=(const RunClaim&) = delete;
  /// It has ended, unless it was left.
  ~RunClaim();

  /// From now on it is this process that runs.
  void runs(std::int32_t process);
  /// It runs on without us: here everybody sees whether it lives, elsewhere it is taken for dead after a lease.
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
  store::Owner written_;  // as it is in the store
  bool held_ = false, stopping_ = false;
  os::Thread thread_;
};

}  // namespace perdure::client
