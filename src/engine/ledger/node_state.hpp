#pragma once
// What the engine knows and decides about slots and versions. No threads and no sockets here: callers hold the engine's
// lock.
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "catalog/catalog.hpp"
#include "engine/ledger/counters.hpp"
#include "engine/ledger/decision_log.hpp"
#include "engine/ledger/expected_chunks.hpp"
#include "engine/ledger/flush_meter.hpp"
#include "engine/ledger/interference.hpp"
#include "engine/ledger/open_capture.hpp"
#include "engine/ledger/reports.hpp"
#include "engine/ledger/room.hpp"
#include "engine/ledger/slots.hpp"
#include "engine/ledger/tier_models.hpp"
#include "engine/ledger/versions.hpp"
#include "engine/ledger/write_times.hpp"
#include "ipc/messages.hpp"
#include "placement/registry.hpp"
#include "tier/tier.hpp"

namespace perdure::engine {

using Runtime = Version;

/// How the node places chunks.
struct NodeStateOptions {
  /// What to predict with; a tier without one gets an assumption. Refined by what is observed.
  std::vector<TierModel> models = {};
  const placement::Policy* policy = nullptr;  ///< nullptr: the first tier with room
  unsigned flush_threads = 2;
  std::uint64_t chunk_bytes = 0;  ///< smaller chunks than half of this say nothing about a tier's throughput
  /// `never` for a store that is not resumable.
  DuringCapture during_capture = DuringCapture::never;
};

/// What the node does not know of the producers.
struct GrantContext {
  std::uint64_t waiting = 1;  ///< for a slot, the one that asks included
  std::uint32_t rank = 0;     ///< that asks
  bool last_chance = false;   ///< it will not be asked again: better a slow tier than none
};

/// A chunk that a flush reads from `slot` and writes to `offset` of its segment.
struct FlushedChunk {
  ChunkName name;
  SlotKey slot;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// What a flush that began before the commit has to know next.
struct CaptureNews {
  enum class State { open, committed, over } state = State::over;
  std::vector<ChunkName> written;
  std::vector<segment::ChunkEntry> chunks;  ///< as long as `written`
};

/// Answer to a request for a slot.
struct GrantOutcome {
  enum class Kind { granted, wait, refused } kind = Kind::wait;
  tier::SlotAddress address;
  base::Error error;
};

/// As the owner of slots: what is kept for other nodes. No client is called so.
inline constexpr ClientId kRedundancyOwner = ~0ULL - 2;

class NodeState {
 public:
  NodeState(catalog::Catalog catalog, std::vector<std::unique_ptr<tier::Tier>> tiers, Reports& reports,
            NodeStateOptions options = {});

  /// Records the tiers, marks the catalog's slots as in use, drops what cannot be there any more, queues unfinished
  /// flushes.
  base::Status recover();

  // ---- from ranks
  /// What contradicts itself is flushed after the commit only.
  void begin_capture(ClientId client, const ipc::Begin& begin);
  GrantOutcome grant(ClientId client, const ipc::Grant& request, const GrantContext& context = {});
  /// Ignores slots that this client did not reserve, or has written already.
  void give_back(ClientId client, const ipc::GiveBack& back);
  /// Nothing while the emulated device of its tier is still writing the chunk: ask again.
  std::optional<base::Status> written(ClientId client, const ipc::Written& written);
  base::Status stage(ClientId client, const ipc::Stage& stage);
  /// Every piece is staged, so that the version holds: where the catalog cannot take the record now, that is made up
  /// for later.
  base::Status commit(const ipc::Commit& commit);
  base::Status abort(ClientId client, const segment::VersionId& id);
  base::Result<const segment::Piece*> locate(ClientId client, const segment::VersionId& id, std::uint32_t rank);
  void unpin(ClientId client);
  /// It is in the store, and nobody needs its slots: they are free for whoever wants them.
  bool evictable(const catalog::HeldVersion& held) const;
  /// Its slots on this node stay as they are until unpinned.
  void pin(ClientId client, const segment::VersionId& id);
  void unpin(ClientId client, const segment::VersionId& id);
  base::Status quarantine(const ipc::Quarantine& quarantine);
  base::Status retire(const std::string& name, std::uint64_t version);
  /// `rank`: what it said it is; nothing for a tool.
  void client_gone(ClientId client, std::optional<std::uint32_t> rank = std::nullopt);
  /// This client was the application's own for so long, until now.
  void step(ClientId client, double seconds);
  std::vector<ipc::HeldSummary> inventory(const std::string& name) const;
  /// Free slots kept for this client, with the bytes it will want of each.
  std::vector<std::pair<tier::SlotAddress, std::uint64_t>> reserve(ClientId client,
                                                                   const std::vector<std::uint64_t>& chunk_bytes);

  // ---- for the other nodes of its groups (core_keep.cpp)
  const catalog::RedundancySet* find(const catalog::RedundancyId& id) const;
  std::vector<catalog::RedundancySet> redundancy_sets() const;
  /// For a block of redundancy of this version. PERDURE_NO_SPACE when only what is nowhere else could make room.
  base::Result<tier::SlotAddress> take_redundancy_slot(const segment::VersionId& id, std::uint64_t bytes);
  /// A slot that is free and that no capture under way will need: redundancy that is built during a capture must not
  /// make captures wait.
  base::Result<tier::SlotAddress> take_spare_slot(const segment::VersionId& id, std::uint64_t bytes);
  /// The capture if its chunks can be replicated as they are written: all are announced, and none leaves its slot
  /// before the commit. Null otherwise.
  const OpenCapture* capture_to_replicate(const segment::VersionId& id) const;
  /// Others are to read its slots before the store's turn comes, or not any more.
  void replicate_before_flush(const segment::VersionId& id, bool first);
  bool being_captured(const segment::VersionId& id) const { return capture(id) != nullptr; }
  void give_back_redundancy_slot(SlotKey slot);  ///< it was taken, and will not be kept
  /// All of its blocks are in slots that were taken, or kept under the same id before; the others of those are free.
  base::Status keep(const catalog::RedundancySet& redundancy_set);
  base::Status redundancy_reached(const catalog::RedundancyId& id);
  base::Status bad_block(const catalog::RedundancyId& id, catalog::BlockName block, const std::string& why);
  base::Status drop_redundancy(const catalog::RedundancyId& id);
  base::Status drop_redundancy(const segment::VersionId& id);  ///< all epochs
  /// Every position of the group has its part in the store: nobody will rebuild it from here.
  void group_stored(const catalog::RedundancyId& id);
  /// On all nodes of the job, this attempt has reached level `node`: older ones of the name can go.
  void node_level_everywhere(const std::string& name, const segment::Attempt& attempt);

  // ---- after nodes were lost (core_recover.cpp)
  /// What is here of a version, and kept for it, of all epochs. Its slots stay until unpinned.
  struct Exported {
    struct Piece {
      segment::Piece piece;
      std::vector<std::optional<tier::SlotAddress>> slots;  ///< by chunk; nothing: not to be used
    };
    std::vector<Piece> pieces;
    std::vector<catalog::RedundancySet> redundancy_sets;
  };
  Exported export_pieces(ClientId client, const segment::VersionId& id);
  /// A piece that was fetched or rebuilt into slots that were taken to keep. Replaces one that is not restorable.
  base::Status adopt(const segment::VersionId& id, std::uint32_t ranks, const segment::Piece& piece);
  std::vector<ipc::RedundancySummary> redundancy_inventory(const std::string& name) const;
  /// The newest version of the name that has reached level `node`, as far as this node's group goes; 0: none.
  std::uint64_t newest_at_node_level_ns(const std::string& name) const;
  /// The application says that everything is in the store, of versions of so many ranks.
  base::Status drop_all_redundancy(std::uint32_t ranks);
  /// This launch's: stored parts are told within it only; older redundancy is obsolete once this node's own are stored.
  void in_epoch(std::optional<std::uint64_t> epoch) { epoch_ = epoch; }
  /// Something here is needed to rebuild another node.
  bool needed_by_others() const;

  // ---- from the flusher
  /// The next version to flush (commit order), now running; nothing when there is none. Writes delayed commit records
  /// first.
  std::optional<segment::VersionId> next_flush();
  /// The next capture whose flush begins before its commit; it is under way from now on.
  std::optional<segment::VersionId> next_write_through();
  /// Some capture is, or its flush has not ended yet.
  bool any_write_through() const;
  /// What is to be flushed: of an open capture all that is announced, with place kNotWritten where it is not written.
  /// Nothing when it was given up.
  std::optional<catalog::HeldVersion> begin_attempt(const segment::VersionId& id);
  /// Of chunks written since the first `seen`, which grows.
  CaptureNews capture_news(const segment::VersionId& id, std::size_t& seen) const;
  /// Before temporary segments of a version that is not committed are written.
  base::Status note_begun(const segment::VersionId& id, const std::vector<catalog::LocalSegment>& segments);
  /// An attempt ended, with what it wrote still there. True when a part of the version is nowhere else.
  bool attempt_over(const segment::VersionId& id);
  void write_through_over(const segment::VersionId& id, const std::optional<base::Error>& error);
  /// No older version of its name is still on its way: versions are published in the order of their commits, so that
  /// whoever sees one at the store can count on the older ones to be there, or never to come.
  bool may_be_published(const segment::VersionId& id) const;
  /// Temporary segments that nobody writes and nobody needs.
  std::optional<catalog::BegunRecord> next_leftover() const;
  /// Producers wait for slots, or will ask for more.
  bool slots_wanted() const;
  /// What each tier gives to all flushes together, as predicted. A model of writes stands for reads.
  std::vector<double> read_bytes_per_s() const;
  /// Around each chunk that a flush reads from a slot. Nothing when it is not there any more: its version was given up.
  std::optional<metrics::FlushRate::Started> flush_chunk_begins(const segment::VersionId& id,
                                                                const FlushedChunk& chunk);
  /// Meanwhile it is told whether they read or store. Needs no ledger, and lives as long as this.
  FlushMeter& flush_meter() { return flush_rate_; }
  /// `movable`: the chunk can be read back from the segment.
  /// What it says of the store; nothing when it failed.
  std::optional<metrics::FlushRate::Observation> flush_chunk_ended(const segment::VersionId& id,
                                                                   const FlushedChunk& chunk,
                                                                   const metrics::FlushRate::Started& started,
                                                                   bool stored, bool movable);
  base::Status segment_stored(const segment::VersionId& id, std::uint32_t segment);
  void flush_succeeded(const segment::VersionId& id, std::uint64_t bytes, double seconds);
  void flush_failed(const segment::VersionId& id, const base::Error& error, bool give_up);
  /// It read a chunk in this place that is not what its rank wrote: the chunk is set aside, and the flush given up.
  /// False when the piece was rebuilt meanwhile, so that the chunk is elsewhere: then it is tried again.
  bool flush_read_damage(const ipc::Quarantine& chunk, const segment::ChunkEntry& read, const base::Error& error);
  /// What it read is not where it was: a piece was rebuilt meanwhile, or the version was given up.
  void flush_interrupted(const segment::VersionId& id);
  /// Gives up versions of `name` that are stored and beyond the newest `keep`.
  base::Status forget_old(const std::string& name, std::uint64_t keep);
  base::Status compact() { return catalog_.compact_if_worthwhile(); }

  // ---- looking
  const catalog::HeldVersion* find(const segment::VersionId& id) const;
  const Runtime* runtime(const segment::VersionId& id) const;
  tier::SlotAddress address(const segment::ChunkEntry& chunk) const {
    return tiers_[chunk.place]->address(chunk.offset);
  }
  bool emulated() const;  ///< some tier is
  /// In so many seconds at the latest this write to an emulated tier may be over; 0: ask written() now.
  double ask_again_in_s(const ipc::Written& written) const;
  std::uint64_t pending_bytes() const;
  std::size_t pending_versions() const;  ///< committed, not stored, not given up
  std::size_t given_up_versions() const;
  /// Why the newest version that is not stored could not be flushed; nothing when no flush failed.
  std::optional<base::Error> last_flush_error() const;
  bool holds_unstored() const;  ///< anything whose only copy is here
  bool lost(const segment::VersionId& id) const {
    return versions_.lost(id);
  }                                  ///< dropped before it reached the store, to make room
  std::uint64_t slot_bytes() const;  ///< the largest chunk that every tier takes
  Counters& counters() { return counters_; }
  const Counters& counters() const { return counters_; }
  bool store_failing() const { return store_failing_; }
  bool at_node_level(const segment::VersionId& id) const;  ///< level `node` is reached, in this launch of the job
  std::uint64_t redundancy_bytes() const;                  ///< for other nodes
  const NodeStateOptions& options() const { return options_; }
  const std::map<segment::VersionId, catalog::HeldVersion>& versions() const { return catalog_.state().versions; }
  std::uint64_t chunks_being_flushed() const { return flush_rate_.running(); }
  /// Of all versions that this node has to do with, those that are captured among them.
  const Versions& tracked() const { return versions_; }
  /// Its flush runs, or is about to, before its commit.
  bool write_through(const segment::VersionId& id) const;
  /// Chunks of it that are in its temporary segment, and in their slots as long as nobody needs those.
  std::uint64_t chunks_to_move(const segment::VersionId& id) const;
  std::uint64_t moved_chunks() const { return moved_chunks_; }  ///< since the engine began
  const Interference& interference() const { return interference_; }
  const DecisionLog& decisions() const { return decisions_; }
  const ModelSource& model_source(std::size_t tier) const { return options_.models[tier].source; }
  /// What a policy would be shown for a chunk of `request`.
  std::vector<placement::TierState> observe_tiers(ClientId client, const ipc::Grant& request, bool last_chance,
                                                  EvictionScope sacrifice = EvictionScope::stored);
  placement::FlushOutlook observe_flushes() const;
  placement::QueueState observe_queue(const segment::VersionId& id, std::uint64_t waiting) const;
  std::vector<std::unique_ptr<tier::Tier>>& tiers() { return tiers_; }

 private:
  struct TierHealth {
    bool failed = false;    // its last operation failed; forgotten at the next commit, so that it gets another chance
    bool reported = false;  // until a capture used it again
  };

  void consider_early_flush(const segment::VersionId& id, const GrantOutcome& outcome);
  base::Status note_written(const ipc::Written& written);
  base::Result<segment::Piece> placed(ClientId client, const ipc::Stage& stage);
  void capture_fails(const segment::VersionId& id, const base::Error& error);
  void leave_captures(ClientId client, std::optional<std::uint32_t> rank);
  const segment::ChunkEntry* find_chunk(const segment::VersionId& id, const ChunkName& name) const;
  bool is_in(const segment::VersionId& id, const ChunkName& name, SlotKey slot) const;
  bool may_move(const segment::VersionId& id) const;
  std::uint64_t count_flushed(std::uint32_t tier) const;
  bool may_be_flushed_early(const segment::VersionId& id) const;
  bool may_follow(const segment::VersionId& id) const;
  bool none_before(const segment::VersionId& id, const std::function<bool(const segment::VersionId&)>& counts) const;
  bool move_one(std::uint32_t tier);
  base::Status move(const segment::VersionId& id, SlotKey slot, const Version::Flushed& flushed);
  void release_slot(const segment::VersionId& id, SlotKey slot);
  base::Status drop_damaged(const std::string& name, const segment::Attempt& newest_stored);
  base::Status drop(const segment::VersionId& id);
  void note_lost(const segment::VersionId& id);
  OpenCapture* capture(const segment::VersionId& id);
  const OpenCapture* capture(const segment::VersionId& id) const;
  void choose_write_through(const segment::VersionId& id);
  void capture_over(const segment::VersionId& id);
  void recorded(const catalog::HeldVersion& held);
  void count_chunks(const segment::VersionId& id, const segment::Piece& piece);
  std::size_t avoid_tiers(const ipc::Grant& request);
  bool will_be_flushed(const segment::VersionId& id, const Version& version) const;
  placement::TierState observe_tier(const ipc::Grant& request, std::uint32_t tier, EvictionScope sacrifice);
  bool place(ClientId client, const ipc::Grant& request, const GrantContext& context, EvictionScope sacrifice,
             GrantOutcome& outcome);
  bool take_slot(ClientId client, const ipc::Grant& request, std::uint32_t tier, EvictionScope sacrifice,
                 GrantOutcome& outcome);
  void learn(const Slots::Granted& granted, std::uint32_t tier, const std::optional<WriteTimes::Observation>& observed);
  void tier_failed(std::uint32_t tier, const std::string& why);
  void take_in_flight(ClientId client, const ipc::Grant& request, SlotKey slot, bool fresh);
  void settle(SlotKey slot);
  std::uint64_t chunks_to_come() const;
  bool waits_for_replication(const segment::VersionId& id) const;
  void release_in_flight(ClientId client, const segment::VersionId* id);
  base::Status write_delayed_commits();
  base::Status commit_more(const ipc::Commit& commit, const catalog::HeldVersion& held);
  static bool can_be_written(const catalog::HeldVersion& held, const catalog::LocalSegment& segment);
  static bool has_pieces_to_write(const catalog::HeldVersion& held);
  static catalog::HeldVersion writable_first(catalog::HeldVersion held);
  void lost_with_its_tier(const segment::VersionId& id);
  void doubt_slumps();
  void requeue_given_up();
  bool guarded(const segment::VersionId& id) const;
  bool superseded(const segment::VersionId& id) const;
  bool needed(const catalog::RedundancySet& redundancy_set) const;
  base::Status drop_obsolete(const std::string& name);
  std::uint64_t count_obsolete(std::uint32_t tier, const segment::VersionId& for_version) const;
  void release_redundancy(const catalog::RedundancySet& before, const catalog::RedundancySet* after);
  void adopt_redundancy();
  RoomView observe_room(std::uint32_t tier) const;
  bool evict(std::uint32_t tier, const Eviction& chosen);
  bool evict(const segment::VersionId& id);
  bool make_room(std::uint32_t tier, std::uint64_t bytes, const segment::VersionId& for_version,
                 EvictionScope sacrifice);
  bool may_become_free(const ipc::Grant& request) const;
  void release_slots(const catalog::HeldVersion& held);
  base::Status drop_impossible(const std::vector<segment::VersionId>& ids);

  catalog::Catalog catalog_;
  std::vector<std::unique_ptr<tier::Tier>> tiers_;
  Reports& reports_;
  NodeStateOptions options_;
  std::vector<placement::DeviceModel> models_;  // by tier
  std::vector<std::uint64_t> observed_;         // observations of each model up to the last commit
  Versions versions_;
  Slots slots_;
  FlushMeter flush_rate_{slots_};
  Interference interference_;
  DecisionLog decisions_ = {};
  ExpectedChunks expected_ = {};
  std::vector<TierHealth> tier_health_ = {};
  bool store_failing_ = false;
  std::uint64_t dropped_ = 0;                 // for want of room while the store fails
  std::optional<base::Error> catalog_error_;  // of the last eviction that the catalog refused
  std::uint64_t moved_chunks_ = 0;
  WriteTimes writes_;
  std::optional<std::uint64_t> epoch_;  // of this node's group
  std::set<catalog::RedundancyId> group_stored_;
  std::map<std::string, segment::Attempt> node_level_everywhere_;  // the newest, by name
  std::uint64_t next_order_ = 1;
  Counters counters_;
};

}  // namespace perdure::engine
