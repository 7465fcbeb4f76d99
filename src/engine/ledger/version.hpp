#pragma once
// Records a version on this node, from its first granted slot until nothing of it is left. Has its state, and
// everything that the catalog does not have. Defines the transitions between states.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/result.hpp"
#include "catalog/state.hpp"
#include "engine/ledger/open_capture.hpp"

namespace perdure::engine {

/// The stages of a version's life.
enum class Life {
  none,       ///< not here: no rank has announced it yet, or it was dropped and ranks or a flush do not know yet
  announced,  ///< a rank announced what it will write
  staged,     ///< pieces are complete, and in the catalog
  delayed,    ///< committed, but the catalog could not record that yet
  committed,  ///< the catalog has the commit; a segment of this node is not in the store
  stored      ///< all segments of this node are in the store
};

/// The flush of a version that is staged or more. Earlier versions are in no queue.
enum class FlushPhase { queued, running, waiting, given_up };  ///< waiting: for the next retry

/// Which flush brings it to the store.
enum class FlushedBy {
  queue,     ///< the thread that flushes committed versions, in the order of commits
  chosen,    ///< a flush of its own that has not begun; if the commit comes first, the queue takes it
  own_flush  ///< its own flush until that has ended, even after the commit
};

struct VersionState {
  Life life = Life::none;
  FlushPhase flush = FlushPhase::queued;
  FlushedBy by = FlushedBy::queue;
  friend bool operator==(const VersionState&, const VersionState&) = default;
};

enum class VersionEvent {
  announce,          ///< by a rank
  stage,             ///< a piece is in the catalog, of a rank here, or recovered from other nodes
  commit,            ///< all pieces are staged, and all ranks of the job agree
  record,            ///< the catalog recorded the commit
  add_segments,      ///< after nodes were lost, this node writes more of it
  store,             ///< the last segment of this node is in the store
  choose,            ///< it is to be flushed before its commit
  capture_fails,     ///< it will never be committed
  own_flush_begins,  ///< before the commit
  own_flush_ends,
  attempt,  ///< a flush begins, for the first time or again
  attempt_succeeds,
  attempt_fails,  ///< to be tried again
  give_up,        ///< it will not be retried by itself
  interrupt,      ///< the chunks that the attempt read have changed: it begins again
  try_again,      ///< a version that was given up gets another chance
  drop
};

/// Returns the state after the event; nullopt if the event cannot happen in this state, which then stays as it is.
std::optional<VersionState> next(VersionState state, VersionEvent event);

struct Version : VersionState {
  struct Flushed {
    ChunkName name;
    std::uint64_t offset = 0;  ///< in the segment
  };
  std::uint64_t order = 0;           ///< order of commit, which flushes follow
  std::optional<base::Error> error;  ///< of the last failed flush
  std::set<ClientId> pinned_by;
  std::set<ClientId> staged_by;                ///< ranks that are still connected, until the commit
  std::vector<std::uint64_t> chunks = {};      ///< of staged pieces, on each tier
  std::vector<std::uint64_t> granted = {};     ///< slots on each tier that ranks write, or have not staged yet
  std::optional<OpenCapture> capture;          ///< until the commit, or until its own flush has ended
  std::optional<double> begun_s;               ///< by the clock of NodeStateOptions; until it is committed or over
  std::vector<catalog::LocalSegment> delayed;  ///< segments that the catalog could not record yet
  bool replicate_first = false;                ///< other nodes read its slots before its flush begins
  /// If set, each node may skip the version. It is not flushed before that time, by the clock of NodeStateOptions
  /// (docs/adr/0050).
  std::optional<double> held_back_until_s;
  /// It is not committed, and its other parts are beyond this launch's reach. It is dropped before a checkpoint is
  /// refused.
  bool remains = false;
  /// Epochs of redundancy kept here for it in which all positions of the group have their part in the store.
  std::set<std::uint64_t> stored_epochs;
  std::uint64_t bytes_flushed = 0;  ///< by the flush that runs or failed last
  /// By tier, slots whose chunk is in the temporary segment, too. They can be reused once the catalog recorded that.
  std::map<std::uint32_t, std::map<std::uint64_t, Flushed>> flushed;

  /// True if a part of it is in the catalog.
  bool held() const { return life >= Life::staged; }
  /// True if it is flushed before its commit, or will be, or that flush has not ended.
  bool write_through() const { return by != FlushedBy::queue; }
  bool wants_flush() const {
    return life == Life::committed && (flush == FlushPhase::queued || flush == FlushPhase::waiting);
  }
  bool on_its_way() const { return life == Life::committed && flush != FlushPhase::given_up && !held_back_until_s; }
  std::uint64_t slots_granted() const;
  std::uint64_t chunks_flushed() const;  ///< those that are in their slots, too
  /// True if nothing concerns the version any more.
  bool over() const;
};

}  // namespace perdure::engine
