#pragma once
// Brings versions to level `node` in the background. Tells the other positions of the group which chunks this node has
// in its slots. Encodes from their chunks the blocks that this position has to keep, and learns when the others have
// done so (docs/adr/0014).
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
  std::shared_ptr<ParityStore> parity = nullptr;       ///< if the scheme has a server
  std::set<std::uint32_t> ranks = {};                  ///< that run here now; empty: all that have a piece here
};

struct ReplicatorOptions {
  unsigned threads = 1;
  std::uint64_t retry_ns = 200'000'000;  ///< delay after a peer could not be reached, or there was no room
  std::uint64_t first_ns =
      10'000'000'000;          ///< the longest that a flush waits for its version's level node; 0: it does not
  bool during_capture = true;  ///< if the scheme can: chunks are replicated as they are written
  /// A smaller capture is replicated when it is committed, because its messages would take longer than its encoding.
  std::uint64_t least_early_bytes = 64 * base::KiB;
  /// True if other threads want the processors, such as ranks that capture. Then uncommitted versions wait. Empty:
  /// never.
  std::function<bool()> busy = {};
  /// Asks whether the store has all of this version, which is at level node and takes room that is needed. If so,
  /// whole_at_store() is called later. Does not wait for the store.
  std::function<void(const segment::VersionId& id)> ask_store = {};
};

class Replicator {
 public:
  /// `changed` is called without any lock when a version's state changed.
  Replicator(Ledger& ledger, Reports& reports, ReplicatorOptions options, std::function<void()> changed);
  ~Replicator() { stop(); }
  /// Tells whether any of its threads started. Without threads no version reaches level node.
  const base::Status& started() const { return threads_.started; }
  void stop();  ///< ends running jobs at their next part; returns when all threads have ended

  /// Works in this group from now on. Replication that was begun in an earlier one is given up; levels that it reached
  /// stay.
  base::Status join(Membership membership);
  /// The node is in no group any more, until the next join().
  void leave();
  /// A capture under way has news: it was announced, a chunk was written, or it ended without a commit.
  void capturing(const segment::VersionId& id);
  /// Looks again at every capture whose redundancy is being built.
  void reevaluate_captures();
  /// Captures wait for room. Gives up versions that this node need not store and that are not at level node yet. Asks
  /// the store about those that are.
  void release_room();
  /// The store has all of this version, whichever nodes stored it.
  void whole_at_store(const segment::VersionId& id);
  /// The version is committed on this node. A thread makes its slots readable, so that the commit does not wait for
  /// that.
  void committed(const segment::VersionId& id);
  /// This node's part of it is in the store.
  void stored(const segment::VersionId& id);
  /// This node dropped it.
  void gone(const segment::VersionId& id);
  /// Called after a restore of the version, to replicate it, perhaps for the second time.
  ipc::ReplicatingAgain again(const segment::VersionId& id);
  /// A newer version than all of these is at level node on all nodes of the job. Versions in `keep` are excepted; they
  /// come first, since other groups rely on them.
  void superseded(const std::string& name, std::uint64_t attempt_ns, const std::set<std::uint64_t>& keep);
  /// Takes a message of another position of the group.
  base::Status receive(base::ConstByteSpan message);

  struct State {
    bool reached = false;
    bool under_way = false;             ///< neither reached nor failed yet
    bool stored = false;                ///< this node stored all pieces of its ranks
    std::optional<base::Error> failed;  ///< it stays at its lower level
  };
  State state(const segment::VersionId& id) const;
  std::size_t under_way() const;
  /// The job ends, and the store has these versions, so the parity server need not keep anything for them.
  void drop_stored(const std::vector<ipc::StoredName>& stored);

 private:
  struct Entry {
    Entry(Replication begun, std::shared_ptr<const Membership> in, std::uint64_t entry_number)
        : replication(std::move(begun)), group(std::move(in)), number(entry_number) {}
    Replication replication;
    std::shared_ptr<const Membership> group;
    std::uint64_t number = 0;  ///< unique
    std::uint64_t wake_at_ns = 0;
    const catalog::RedundancyId& id() const { return replication.id(); }
    ReplicationPhase phase() const { return replication.state().phase; }
  };
  using EntryPointer = std::shared_ptr<Entry>;
  /// A version whose slots are being made readable, by one thread at a time.
  struct Publication {
    enum class Wanted { nothing, news, commit } wanted = Wanted::nothing;
    bool running = false;
    PublishedSlots slots;  ///< used by the running thread
  };
  /// The state of a version's replication.
  struct Tracked {
    std::map<std::uint64_t, EntryPointer> by_epoch;
    std::shared_ptr<Publication> publication;
  };
  struct News {
    std::optional<ReplicationEvent> event = {};
    std::uint32_t ranks = 0;  ///< of a capture that can be replicated
    bool over = false;        ///< it ended without a commit
  };
  /// Calls to make when the mutex is free again.
  struct Outbox {
    bool changed = false;
    std::vector<segment::VersionId> ask_store;
  };

  /// Holds the mutex. When it is released, a thread is woken if there is a job that no thread has begun.
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
  /// Receives the answers to messages that no thread waits for. They may come when the replicator is gone.
  struct Door {
    std::mutex mutex;  // taken before the replicator's
    Replicator* replicator = nullptr;
  };
  /// A thread that is idle until then; lives on its stack.
  struct FreeThread {
    std::uint64_t until_ns = 0;
    bool of_server = false;
    FreeThread* next = nullptr;
  };
  struct ToWake {
    bool server = false;  ///< the thread that asks parity servers
    bool other = false;   ///< any of the others
  };

  // These need mutex_ held.
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

  // These need mutex_ free.
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
  // nullptr: in no group. Its users share ownership, so that leaving a group waits for nobody
  std::shared_ptr<const Membership> group_;
  std::map<segment::VersionId, Tracked> versions_;
  Remembered<KnownBefore> past_{4096};                     // of this epoch
  std::map<std::string, std::set<std::uint64_t>> wanted_;  // attempts that other groups rely on, by name
  ReplicationJobs jobs_;
  Outbox outbox_;
  struct Threads {
    base::Status started;  // fails if no thread could be begun
    std::condition_variable wake, wake_server;
    os::Threads all;
    os::Threads of_server;     // one, as soon as this node was in a group with a parity server
    bool asks_server = false;  // that thread exists; guarded, like the members that follow
    FreeThread* idle = nullptr;
    unsigned roused = 0;  // idle threads that were woken and have not noticed yet, except the server's
  };
  Threads threads_;
  struct Sending {
    std::shared_ptr<Door> door = std::make_shared<Door>();
    std::uint64_t entries = 0;  // number made so far; guarded
  };
  Sending sending_;
};

}  // namespace perdure::engine
