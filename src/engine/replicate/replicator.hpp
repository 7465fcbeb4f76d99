#pragma once
// Brings versions to level `node`: tells the other positions of the group what is in this node's slots, makes the
// blocks that this position has to keep out of theirs, and hears when the others have done so. All in the background.
// (docs/adr/0014)
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>

#include "engine/ledger/remembered.hpp"
#include "engine/replicate/block_encoder.hpp"
#include "engine/replicate/parity_store.hpp"
#include "engine/replicate/replication.hpp"
#include "engine/replicate/replication_jobs.hpp"
#include "engine/replicate/slot_publisher.hpp"
#include "os/thread.hpp"

namespace perdure::engine {

/// This node's place in one launch of the job.
struct Membership {
  std::uint64_t epoch = 0;
  GroupScheme group;
  unsigned position = 0;
  std::shared_ptr<GroupLink> link;
  std::vector<std::vector<std::byte>> addresses = {};  ///< by position
  std::shared_ptr<ParityStore> parity = nullptr;       ///< where the scheme has a server
  std::set<std::uint32_t> ranks = {};                  ///< that run here now; empty: all that have a piece here
};

struct ReplicatorOptions {
  unsigned threads = 1;
  std::uint64_t retry_ns = 200'000'000;  ///< after a peer could not be reached, or there was no room
  std::uint64_t first_ns =
      10'000'000'000;          ///< the longest that a flush waits for its version's level node; 0: it does not
  bool during_capture = true;  ///< where the scheme can: chunks are replicated as they are written
  /// A smaller capture is replicated when it is committed: its messages would take longer than its encoding.
  std::uint64_t least_early_bytes = 64 * base::KiB;
  /// Others want the processors, such as ranks that capture: what is not committed yet waits. Empty: never.
  std::function<bool()> busy = {};
  /// This version is at level node, and takes room that is needed: whole_at_store() is to be called if the store has
  /// all of it. Does not wait for the store.
  std::function<void(const segment::VersionId& id)> ask_store = {};
};

class Replicator {
 public:
  /// `changed` is called without any lock when a version's state changed.
  Replicator(Ledger& ledger, Reports& reports, ReplicatorOptions options, std::function<void()> changed);
  ~Replicator() { stop(); }
  const base::Status& started() const {
    return threads_.started;
  }             ///< its threads; without any nothing reaches level node
  void stop();  ///< ends what is under way at its next part; returns when all threads have ended

  /// From now on in this group. What was begun in an earlier one is given up; what it reached stays.
  base::Status join(Membership membership);
  /// In no group any more, until the next join().
  void leave();
  /// There is news of a capture under way: it was announced, a chunk was written, or it ended without a commit.
  void capturing(const segment::VersionId& id);
  /// Looks again at every capture whose redundancy is being built.
  void reevaluate_captures();
  /// Captures wait for room. Gives up versions that this node need not bring to the store and that are not at level
  /// node yet; asks the store about those that are.
  void release_room();
  /// The store has all of this version, whoever brought it there.
  void whole_at_store(const segment::VersionId& id);
  /// The version is committed on this node. Its slots are made readable by a thread: who commits does not wait for
  /// that.
  void committed(const segment::VersionId& id);
  /// This node's part of it is in the store.
  void stored(const segment::VersionId& id);
  /// This node gave it up.
  void gone(const segment::VersionId& id);
  /// Whoever restores a version asks for it to be replicated, be it for the second time.
  ipc::ReplicatingAgain again(const segment::VersionId& id);
  /// A newer version than all of these, but those in `keep`, is at level node on all nodes of the job. Those in `keep`
  /// come first: other groups count on them.
  void superseded(const std::string& name, std::uint64_t attempt_ns, const std::set<std::uint64_t>& keep);
  /// A message of another position of the group.
  base::Status receive(base::ConstByteSpan message);

  struct State {
    bool reached = false;
    bool under_way = false;             ///< neither of the two yet
    bool stored = false;                ///< this node brought all that its ranks have of it to the store
    std::optional<base::Error> failed;  ///< it stays at its lower level
  };
  State state(const segment::VersionId& id) const;
  std::size_t under_way() const;
  /// The job ends, and the store has these: nothing has to stay for them at the parity server.
  void drop_stored(const std::vector<ipc::StoredName>& stored);

 private:
  struct Entry {
    Entry(Replication begun, std::shared_ptr<const Membership> in, std::uint64_t entry_number)
        : replication(std::move(begun)), group(std::move(in)), number(entry_number) {}
    Replication replication;
    std::shared_ptr<const Membership> group;
    std::uint64_t number = 0;  ///< no other has it
    std::uint64_t wake_at_ns = 0;
    const catalog::RedundancyId& id() const { return replication.id(); }
    ReplicationPhase phase() const { return replication.state().phase; }
  };
  using EntryPointer = std::shared_ptr<Entry>;
  /// A version whose slots are made readable, by one thread at a time.
  struct Publication {
    enum class Wanted { nothing, news, commit } wanted = Wanted::nothing;
    bool running = false;
    PublishedSlots slots;  ///< of the thread that runs
  };
  /// What is under way for a version.
  struct Tracked {
    std::map<std::uint64_t, EntryPointer> by_epoch;
    std::shared_ptr<Publication> publication;
  };
  struct News {
    std::optional<ReplicationEvent> event = {};
    std::uint32_t ranks = 0;  ///< of a capture that can be replicated
    bool over = false;        ///< it ended without a commit
  };
  /// What is to be told when the mutex is free again.
  struct Outbox {
    bool changed = false;
    std::vector<segment::VersionId> ask_store;
  };

  /// The mutex. At its end a thread is woken, if there is anything for it to do that none has begun.
  class Held {
   public:
    explicit Held(Replicator& of) : guard_(of.mutex_), of_(of) {}
    ~Held() {
      if (!guard_.owns_lock()) guard_.lock();
      const ToWake needed = of_.needed();
      guard_.unlock();
      of_.rouse(needed);
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    std::unique_lock<std::mutex>& guard() { return guard_; }

   private:
    std::unique_lock<std::mutex> guard_;
    Replicator& of_;
  };
  /// Where messages come back to that nobody waits for: they may do so when the replicator is gone.
  struct Door {
    std::mutex mutex;  // taken before the replicator's
    Replicator* replicator = nullptr;
  };
  /// A thread that has nothing to do until then; on its stack.
  struct FreeThread {
    std::uint64_t until_ns = 0;
    bool of_server = false;
    FreeThread* next = nullptr;
  };
  struct ToWake {
    bool server = false;  ///< the thread that asks parity servers
    bool other = false;   ///< any of the others
  };

  // With mutex_ held.
  std::shared_ptr<const Membership> leave_group() noexcept;
  EntryPointer find(const segment::VersionId& id) const;
  EntryPointer find(const catalog::RedundancyId& id) const;
  EntryPointer find_or_make(const catalog::RedundancyId& id, std::uint32_t ranks);
  KnownBefore known_before(const catalog::RedundancyId& id) const;
  base::Status take(GroupMessage message);
  base::Status step(const EntryPointer& entry, const ReplicationEvent& event);
  void carry_out(const EntryPointer& entry, ReplicationAction& action);
  void carry_out_at_ledger(const EntryPointer& entry, const ReplicationAction& action);
  void start_job(const EntryPointer& entry, ReplicationAction& action);
  void reached(const EntryPointer& entry);
  void erase(const EntryPointer& entry);
  void forget(const EntryPointer& entry);
  void drop_publication(const segment::VersionId& id);
  void seek_room(const EntryPointer& entry);
  ToWake needed() noexcept;
  bool server_needed() const noexcept;
  std::uint64_t next_timer_ns() const noexcept;
  bool begin_send(const EntryPointer& entry, const action::Send& send);
  void add(ReplicationJobs::Kind kind, const EntryPointer& entry, std::function<ReplicationEvent()> work);
  void drop_at_server(const EntryPointer& entry);
  void drop_later(std::function<void(ParityStore&)> drop);
  void give_up(const EntryPointer& entry, const base::Error& why);
  bool replicates_captures() const;
  bool wanted(const segment::VersionId& id) const;
  bool publishes(const EntryPointer& entry, Publication::Wanted wanted) const;
  void want_published(const segment::VersionId& id, Publication::Wanted wanted);
  void begin_publishing(const segment::VersionId& id, const std::shared_ptr<Publication>& publication);
  void step_timers();
  std::vector<EntryPointer> entries() const;

  // Without it.
  base::Status start_thread(os::Threads& of, ReplicationJobs::For who);
  void start_thread_for_server();
  void run(ReplicationJobs::For who);
  void rouse(const ToWake& needed);
  void sleep(std::unique_lock<std::mutex>& guard, ReplicationJobs::For who);
  void sent(const catalog::RedundancyId& id, std::uint64_t number, event::Sent sent);
  void deliver(std::unique_lock<std::mutex>& guard);
  void publish(const segment::VersionId& id, const std::shared_ptr<Publication>& publication);
  News read_news(const segment::VersionId& id, const Membership& group, Publication::Wanted wanted, std::uint64_t least,
                 PublishedSlots& slots);
  ReplicationEvent encode(const Entry& entry, const action::Encode& encode);
  base::Result<segment::ChunkEntry> encode_into_slot(const Entry& entry, const action::Encode& encode);

  ReplicationLedger ledger_;  // its lock is taken after mutex_, never before
  ReplicatorOptions options_;
  std::function<void()> changed_;
  SlotPublisher publisher_;
  tier::SlotIo slots_;

  mutable std::mutex mutex_;
  bool stopping_ = false;
  std::shared_ptr<const Membership> group_;  // none: in no group. Who works with it keeps it: leaving waits for nobody
  std::map<segment::VersionId, Tracked> versions_;
  Remembered<KnownBefore> past_{4096};                     // of this epoch
  std::map<std::string, std::set<std::uint64_t>> wanted_;  // attempts that other groups count on, by name
  ReplicationJobs jobs_;
  Outbox outbox_;
  struct Threads {
    base::Status started;  // fails when none could be begun
    std::condition_variable wake, wake_server;
    os::Threads all;
    os::Threads of_server;     // one, since this node was first in a group with a parity server
    bool asks_server = false;  // it is there; guarded, as what follows
    FreeThread* idle = nullptr;
    unsigned roused = 0;  // of these, but for the server's, that have yet to find out
  };
  Threads threads_;
  struct Sending {
    std::shared_ptr<Door> door = std::make_shared<Door>();
    std::uint64_t entries = 0;  // made so far; guarded
  };
  Sending sending_;
};

}  // namespace perdure::engine
