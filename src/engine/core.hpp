#pragma once
// What the engine knows and decides about slots and versions. No threads and no sockets here: callers hold the engine's
// lock.
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "catalog/catalog.hpp"
#include "engine/reports.hpp"
#include "engine/write_times.hpp"
#include "ipc/messages.hpp"
#include "metrics/moving_average.hpp"
#include "placement/policy.hpp"
#include "tier/tier.hpp"

namespace perdure::engine {

enum class FlushState { queued, running, waiting, given_up };  ///< waiting: for the next retry

/// What the catalog does not say about a held version.
struct Runtime {
  std::uint64_t order = 0;  ///< of commit; flushes keep it
  FlushState flush = FlushState::queued;
  std::optional<base::Error> error;  ///< of the last failed flush
  std::set<ClientId> pinned_by;
};

struct Statistics {
  std::uint64_t bytes_flushed = 0;
  double last_flush_s = 0;
  metrics::MovingAverage flush_bytes_per_s;
};

/// Answer to a request for a slot.
struct GrantOutcome {
  enum class Kind { granted, wait, refused } kind = Kind::wait;
  tier::SlotAddress address;
  base::Error error;
};

class Core {
 public:
  Core(catalog::Catalog catalog, std::vector<std::unique_ptr<tier::Tier>> tiers, Reports& reports)
      : catalog_(std::move(catalog)), tiers_(std::move(tiers)), reports_(reports), writes_(tiers_.size()) {}

  /// Records the tiers, marks the catalog's slots as in use, drops what cannot be there any more, queues unfinished
  /// flushes.
  base::Status recover();

  // ---- from ranks
  GrantOutcome grant(ClientId client, const ipc::Grant& request);
  /// Nothing while the emulated device of its tier is still writing the chunk: ask again.
  std::optional<base::Status> written(ClientId client, const ipc::Written& written);
  base::Status stage(ClientId client, const ipc::Stage& stage);
  /// Every piece is staged, so that the version holds: where the catalog cannot take the record now, that is made up
  /// for later.
  base::Status commit(const ipc::Commit& commit);
  base::Status abort(ClientId client, const segment::VersionId& id);
  base::Result<const segment::Piece*> locate(ClientId client, const segment::VersionId& id, std::uint32_t rank);
  void unpin(ClientId client);
  base::Status quarantine(const ipc::Quarantine& quarantine);
  base::Status retire(const std::string& name, std::uint64_t version);
  void client_gone(ClientId client);
  std::vector<ipc::HeldSummary> inventory(const std::string& name) const;
  /// Free slots kept for this client, with the bytes it will want of each.
  std::vector<std::pair<tier::SlotAddress, std::uint64_t>> reserve(ClientId client,
                                                                   const std::vector<std::uint64_t>& chunk_bytes);

  // ---- from the flusher
  /// The next version to flush (commit order), now running; nothing when there is none. Writes delayed commit records
  /// first.
  std::optional<segment::VersionId> next_flush();
  base::Status segment_stored(const segment::VersionId& id, std::uint32_t segment);
  void flush_succeeded(const segment::VersionId& id, std::uint64_t bytes, double seconds);
  void flush_failed(const segment::VersionId& id, const base::Error& error, bool give_up);
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
  /// In so many seconds at the latest a write to an emulated tier may be over; nothing while there is none.
  std::optional<double> next_device_event_in_s() const;
  std::uint64_t pending_bytes() const;
  std::size_t pending_versions() const;  ///< committed, not stored, not given up
  std::size_t given_up_versions() const;
  bool holds_unstored() const;                    ///< anything whose only copy is here
  bool lost(const segment::VersionId& id) const;  ///< dropped before it reached the store, to make room
  std::uint64_t slot_bytes() const;               ///< the largest chunk that every tier takes
  const Statistics& statistics() const { return statistics_; }
  std::vector<std::unique_ptr<tier::Tier>>& tiers() { return tiers_; }

 private:
  struct InFlight {
    ClientId client = 0;
    segment::VersionId id;
    std::uint64_t bytes = 0;
    device::StreamId stream = 0;  // of the tier's emulated device
    bool written = false;
  };
  struct TierTrouble {
    bool failed = false;    // its last operation failed; forgotten at the next commit, so that it gets another chance
    bool reported = false;  // until a capture used it again
  };

  base::Status drop_damaged(const std::string& name, const segment::Attempt& newest_stored);
  base::Status drop(const segment::VersionId& id);
  void note_lost(const segment::VersionId& id);
  std::vector<placement::TierView> look_at_tiers(const ipc::Grant& request, std::size_t first);
  void tier_failed(std::uint32_t tier, const std::string& why);
  void take_in_flight(ClientId client, const ipc::Grant& request, SlotKey slot);
  void forget_in_flight(SlotKey slot, const InFlight& in_flight);
  void release_in_flight(ClientId client, const segment::VersionId* id);
  bool flushing() const;
  base::Status write_delayed_commits();
  void requeue_given_up();
  bool evictable(const catalog::HeldVersion& held) const;
  bool superseded_and_stuck(const catalog::HeldVersion& held) const;
  static bool uses_tier(const catalog::HeldVersion& held, std::uint32_t tier);
  const catalog::HeldVersion* victim(std::uint32_t tier, const segment::VersionId& for_version, bool stored_only) const;
  bool evict(const catalog::HeldVersion& held);
  bool make_room(std::uint32_t tier, std::uint64_t bytes, const segment::VersionId& for_version);
  bool may_become_free(const segment::VersionId& for_version) const;
  void release_slots(const catalog::HeldVersion& held);
  base::Status drop_impossible(const std::vector<segment::VersionId>& ids);

  catalog::Catalog catalog_;
  std::vector<std::unique_ptr<tier::Tier>> tiers_;
  Reports& reports_;
  std::vector<TierTrouble> trouble_ = {};
  std::map<segment::VersionId, catalog::CommitRecord> delayed_commits_;
  bool store_failing_ = false;
  std::uint64_t dropped_ = 0;                 // for want of room while the store fails
  std::deque<segment::VersionId> lost_;       // the last of them
  std::optional<base::Error> catalog_error_;  // of the last eviction that the catalog refused
  std::map<SlotKey, InFlight> in_flight_;
  WriteTimes writes_;
  std::map<segment::VersionId, Runtime> runtime_;
  std::map<segment::VersionId, std::set<ClientId>>
      in_hand_;  // staged, not committed: the ranks that are still connected
  std::map<ClientId, std::vector<std::uint64_t>> reserved_;
  std::uint64_t next_order_ = 1;
  Statistics statistics_;
};

}  // namespace perdure::engine
