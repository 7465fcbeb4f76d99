#pragma once
// The checkpoint names that this launch writes. Rank 0 takes each from the store before its first use, and a thread
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

/// This process as the owner of names; `launch` empty: one drawn at random for this process.
store::Owner this_launch(const std::string& job, const std::string& study, const std::string& launch,
                         std::uint64_t lease_ns);

class NameClaims {
 public:
  /// `cpus`: where its thread may run, as the engine's do; empty: anywhere.
  NameClaims(store::Store& store, store::Owner self, const os::CpuSet& cpus = {}, const Messages& messages = {})
      : store_(store), self_(std::move(self)), cpus_(cpus), messages_(messages) {}
  ~NameClaims();

  enum class Access {
    read,  ///< a name that nobody has owned so far stays so
    write
  };
  /// The name is ours when it succeeds; later calls tell whether it still is. PERDURE_BUSY: another launch that lives
  /// writes it; found out within one lease. PERDURE_MISMATCH: it belongs to another job, or to another
  /// case where both are known. PERDURE_PERMISSION: its place in the store is a link, or belongs to
  /// somebody else. A store that cannot be
  /// reached is the flush's trouble: then nothing is taken, and the next call tries again.
  base::Status hold(const std::string& name, Access access);
  /// Of the name's place in the store, as it was seen last (store::Store::incarnation); 0: it could not be seen. Of
  /// names that are held for writing it is looked at again with each renewal.
  std::uint64_t incarnation(const std::string& name);
  /// The store has a place for this name, and it was seen in this launch.
  bool saw_place(const std::string& name) { return incarnation(name) > store::kNoIncarnation; }
  /// For reports, each once: that the store belongs to somebody else, and which names were taken although the record of
  /// their owner was damaged. As hold(), of one thread.
  std::vector<std::string> news();
  /// Free for the next launch of this job from now on. Where that cannot be written, its lease ends.
  void release();

 private:
  /// Takes the name if that is decided; nothing: look again.
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
  std::map<std::string, std::optional<store::Owner>> held_;  // with the launch that took it from us, if one did
  std::map<std::string, std::uint64_t> incarnations_;
  bool stopping_ = false;
  bool told_whose_ = false;
  std::vector<std::string> news_;
  os::Thread thread_;
};

}  // namespace perdure::client
