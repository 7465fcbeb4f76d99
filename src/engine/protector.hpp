#pragma once
// Brings versions to level `node`: tells the other positions of the group what is in this node's slots, makes the
// blocks that this position has to keep out of theirs, and hears when the others have done so. All in the background.
// (docs/adr/0014)
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "engine/block_encoder.hpp"
#include "engine/core.hpp"
#include "engine/group_link.hpp"
#include "engine/group_message.hpp"
#include "engine/parity_keeper.hpp"

namespace perdure::engine {

/// This node's place in one launch of the job.
struct Membership {
  std::uint64_t epoch = 0;
  GroupScheme group;
  unsigned position = 0;
  std::shared_ptr<GroupLink> link;
  std::vector<std::vector<std::byte>> addresses = {};  ///< by position
  std::shared_ptr<ParityKeeper> parity = nullptr;      ///< where the scheme has a server
  std::set<std::uint32_t> ranks = {};                  ///< that run here now; empty: all that have a piece here
};

struct ProtectorOptions {
  unsigned threads = 1;
  std::uint64_t retry_ns = 200'000'000;     ///< after a peer could not be reached, or there was no room
  std::uint64_t first_ns = 10'000'000'000;  ///< so long at most a flush waits until its version is protected
  bool during_capture = true;               ///< with schemes that can: chunks are protected as they are written
  /// Of a smaller capture the messages take longer than the encoding: it is protected when it is committed.
  std::uint64_t least_early_bytes = 64 * base::KiB;
  /// Others want the processors, such as ranks that capture: what is not committed yet waits. Empty: never.
  std::function<bool()> busy = {};
  /// This version is protected, and takes room that is needed: whole_at_store() is to be called if the store has all of
  /// it. Does not wait for the store.
  std::function<void(const segment::VersionId& id)> ask_store = {};
};

class Protector {
 public:
  /// `lock` guards `core`. `changed` is called without any lock when a version's state changed.
  Protector(Core& core, std::mutex& lock, Reports& reports, ProtectorOptions options, std::function<void()> changed);
  ~Protector() { stop(); }
  void stop();  ///< ends what is under way at its next part; returns when all threads have ended

  /// From now on in this group. What was begun in an earlier one is given up; what it reached stays.
  base::Status join(Membership membership);
  /// In no group any more, until the next join().
  void leave();
  /// There is news of a capture under way: it was announced, a chunk was written, or it ended without a commit.
  void capturing(const segment::VersionId& id);
  /// Looks again at every capture whose redundancy is being built.
  void look_at_captures();
  /// Captures wait for room: what this node need not bring to the store, and is not protected yet, is given up. Of
  /// what is protected the store is asked.
  void give_way();
  /// The store has all of this version, whoever brought it there.
  void whole_at_store(const segment::VersionId& id);
  /// The version is committed on this node. Its slots are made readable by a thread: who commits does not wait for
  /// that.
  void committed(const segment::VersionId& id);
  /// This node's part of it is in the store.
  void stored(const segment::VersionId& id);
  /// This node gave it up.
  void gone(const segment::VersionId& id);
  /// A newer version than all of these is protected on all nodes of the job.
  void superseded(const std::string& name, std::uint64_t attempt_ns);
  /// What another position of the group says.
  base::Status hear(base::ConstByteSpan message);

  struct State {
    bool reached = false;
    bool under_way = false;             ///< neither of the two yet
    bool stored = false;                ///< this node brought all that its ranks have of it to the store
    std::optional<base::Error> failed;  ///< it stays at its lower level
  };
  State state(const segment::VersionId& id) const;
  std::size_t under_way() const;
  /// The job has ended in order: nothing of it has to stay anywhere.
  void drop_all();

 private:
  /// What one other position was told and has agreed to.
  struct Told {
    bool announced = false, keeps = false, stored = false, busy = false;
    bool parity_keeps = false, gave_up = false;
    std::size_t offered = 0;
    std::uint64_t retry_at_ns = 0;
  };
  struct Work {
    explicit Work(Encoding all) : encoding(std::move(all)) {}
    Encoding encoding;
    std::vector<segment::Piece> pieces;           ///< this node's
    std::map<std::uint64_t, base::Hash128> hash;  ///< of offered blocks of this node, by number
    std::vector<OfferedBlock> offers;             ///< this node's, in the order in which they came
    bool early = false;                           ///< pieces are known, offers come while it is captured
    std::size_t seen = 0;                         ///< of the capture's news
    bool first = false;                           ///< its flush waits for it
    std::uint64_t begun_ns = 0;                   ///< when it was committed
    bool here = false;                            ///< committed: pieces and offers are all known
    std::vector<Told> told;
    bool ordering = false, ordered = false, parity_kept = false;  ///< of the parity server; by position 0
    bool unwanted = false;                                        ///< what was ordered is to be dropped there
    bool heard_failure = false;                                   ///< somebody else gave it up, and said so
    bool recording = false, recorded = false, reaching = false, noting_stored = false;
    bool reached = false;          ///< what is left is to tell, and to hear, who has stored his part
    bool stored_here = false;      ///< of its ranks' pieces all, by this node
    bool whole_at_store = false;   ///< of all ranks of the job, by whoever
    std::set<unsigned> stored_at;  ///< other positions
    std::uint64_t retry_at_ns = 0;
    std::optional<base::Error> failed;
  };
  using WorkPointer = std::shared_ptr<Work>;
  using Job = std::function<void()>;  ///< run without the mutex

  static bool passes(const base::Error& error);
  static void earliest(std::uint64_t& wake_at_ns, std::uint64_t at_ns);
  void run();
  void begin(const segment::VersionId& id);
  bool done_before(const segment::VersionId& id) const;
  Job next_job(std::uint64_t now_ns, std::uint64_t& wake_at_ns);
  Job job_of(const WorkPointer& work, std::uint64_t now_ns, std::uint64_t& wake_at_ns);
  Job next_telling(const WorkPointer& work, std::uint64_t now_ns, std::uint64_t& wake_at_ns);
  std::optional<GroupMessage> next_message(const Work& work, const Told& told, std::size_t& blocks) const;
  void tell(GroupLink& link, const WorkPointer& work, unsigned position, const GroupMessage& message,
            std::size_t blocks);
  void encode(const WorkPointer& work, const EncodingTask& task);
  base::Result<segment::ChunkEntry> encode_into_slot(GroupLink& link, const redundancy::Code* code, const Work& work,
                                                     const EncodingTask& task, bool early);
  void record(const WorkPointer& work);
  Job job_with_server(const WorkPointer& work);
  void order(const WorkPointer& work);
  void drop_order(Work& work);
  Job next_farewell(const WorkPointer& work, std::uint64_t now_ns, std::uint64_t& wake_at_ns);
  void later(Job chore);
  static ParityKeeper::Group group_at_server(const Work& work) {
    return {work.encoding.id(), work.encoding.group().number};
  }
  void catalog_said(const WorkPointer& work, const base::Status& status);
  void note_reached(const WorkPointer& work);
  bool all_stored(const Work& work) const;
  bool own_part_stored(const Work& work) const;
  bool nothing_to_store(const Work& work) const;
  void ask_store() const;
  void note_stored(const WorkPointer& work);
  base::Status fill(Work& work, const segment::VersionId& id);
  struct NewBlock {
    std::uint64_t number = 0;
    tier::SlotAddress slot;
    base::Hash128 hash;
  };
  base::Status offer(Work& work, const std::vector<NewBlock>& blocks);
  struct CaptureLook {
    bool over = false;  ///< it ended without a commit
    std::uint32_t ranks = 0;
    std::vector<segment::Piece> pieces;  ///< of all ranks of this node, without hashes; none: not to be protected now
    std::vector<NewBlock> blocks;
  };
  CaptureLook look_at_capture(const segment::VersionId& id, std::size_t& seen);
  bool protects_captures() const;
  bool others_go_first(const Work& work) const;
  void follow_capture(const segment::VersionId& id);
  WorkPointer find(const segment::VersionId& id) const;
  WorkPointer find_or_make(const catalog::ProtectionId& id, std::uint32_t ranks);
  void fail(const WorkPointer& work, const base::Error& error);
  void leave_group();
  void release(Work& work);
  void unprotect(const Work& work);
  void let_flush(Work& work);
  void forget(const WorkPointer& work);
  void forget_older(const segment::VersionId& id);
  void forget_superseded(const WorkPointer& work);
  std::optional<base::Status> answer_to_unknown(const GroupMessage& message) const;
  static base::Status apply(Work& work, const GroupMessage& message);

  Core& core_;
  std::mutex& lock_;  // taken after mutex_, never before
  Reports& reports_;
  ProtectorOptions options_;
  std::function<void()> changed_;
  tier::SlotIo slots_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::optional<Membership> membership_;
  std::shared_ptr<const redundancy::Code> code_;
  std::map<catalog::ProtectionId, WorkPointer> works_;
  std::deque<segment::VersionId> committed_;  // not begun yet
  std::deque<Job> chores_;                    // for the parity server; run one at a time
  bool chore_running_ = false;
  std::set<segment::VersionId> captures_;  // with news that nobody has looked at
  std::set<segment::VersionId> done_;      // reached in this epoch, and still on this node
  std::vector<std::thread> threads_;
};

}  // namespace perdure::engine
