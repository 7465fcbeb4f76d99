#pragma once
// Claims the checkpoint names that this launch writes. Rank 0 takes each from the store before its first use. A thread
// renews the record while the process lives, so that another launch can tell whether this one is dead (plan/lease.hpp,
// ADR 0025).
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "client/messages.hpp"
#include "os/cpu_set.hpp"
#include "os/thread.hpp"
#include "plan/lease.hpp"
#include "store/owner_watch.hpp"
#include "store/store.hpp"

namespace perdure::client {

/// Describes this process as the owner of names; `launch` empty: draws one at random for this process.
store::Owner this_launch(const std::string& job, const std::string& study, const std::string& launch,
                         std::uint64_t lease_ns);

class NameClaims {
 public:
  /// `cpus`: where its thread may run, as the engine's do; empty: anywhere.
  NameClaims(store::Store& store, store::Owner self, const os::CpuSet& cpus = {}, const Messages& messages = {})
      : store_(store), self_(std::move(self)), cpus_(cpus), messages_(messages) {}
  ~NameClaims();

  enum class Access {
    read,  ///< leaves a name without an owner as it is
    write
  };
  /// Takes the name for this launch; later calls tell whether it is still ours. PERDURE_BUSY: another living launch
  /// writes it; found out within one lease. PERDURE_MISMATCH: it belongs to another job, or to another case if both are
  /// known. PERDURE_PERMISSION: its place in the store is a link, or belongs to another user. A store that cannot be
  /// reached is a matter for the flush. Then nothing is taken, and the next call tries again.
  base::Status hold(const std::string& name, Access access);
  /// Gives the incarnation of the name's place in the store, as it was seen last (store::Store::incarnation). 0: it
  /// could not be seen. Each renewal looks again at names that are held for writing.
  std::uint64_t incarnation(const std::string& name);
  /// Tells whether the store has a place for this name that was seen in this launch.
  bool saw_place(const std::string& name) { return incarnation(name) > store::kNoIncarnation; }
  /// Gives news for reports, each once. The store belongs to another user, or names were taken although the record of
  /// their owner was damaged. Called by the thread of hold().
  std::vector<std::string> news();
  /// Frees the names for the next launch of this job. If that cannot be written, their lease ends.
  void release();

 private:
  /// Takes the name if that is decided; nothing: look again.
  std::optional<base::Status> take_from(const std::string& name, Access access,
                                        const std::optional<store::Owner>& there, store::OwnerWatch& watch);
  std::optional<base::Status> try_to_take(const std::string& name, Access access, store::OwnerWatch& watch);
  plan::LeaseFacts facts_of(const store::Owner& there, store::OwnerWatch& watch) const;
  std::optional<base::Status> try_to_replace_damaged(const std::string& name, const base::Error& damage,
                                                     store::OwnerWatch& watch);
  base::Status keep(const std::string& name);
  std::string news_of_store();
  void look_at_place(const std::string& name, store::Missing missing);
  store::Owner successor(const std::optional<store::Owner>& there) const;
  store::Owner successor_of_damaged() const;
  void renew();
  void run();
  bool ours(const store::Owner& owner) const;
  bool is_this_process(const store::Owner& owner) const;

  store::Store& store_;
  const store::Owner self_;
  const os::CpuSet cpus_;
  const Messages messages_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::map<std::string, std::optional<store::Owner>>
      held_;  // names, with the launch that took them from us, if one did
  std::map<std::string, std::uint64_t> incarnations_;
  bool stopping_ = false;
  bool told_whose_ = false;
  std::vector<std::string> news_;
  os::Thread thread_;
};

}  // namespace perdure::client
