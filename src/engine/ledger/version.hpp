#pragma once
// A version on this node, from the first slot that is granted for it until nothing of it is left: the state it is in,
// how that changes, and everything about it that the catalog does not say.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/result.hpp"
#include "catalog/state.hpp"
#include "engine/ledger/open_capture.hpp"

namespace perdure::engine {

/// How far it is.
enum class Life {
  none,  ///< nothing is here: no rank has announced it yet, or it was dropped, and ranks or a flush do not know yet
  announced,  ///< a rank said what it will write
  staged,     ///< pieces are complete, and in the catalog
  delayed,    ///< committed, but the catalog could not take that yet
  committed,  ///< so says the catalog, too; a segment of this node is not in the store
  stored      ///< all segments of this node are
};

/// Of a version that is staged or more. Others wait in no queue.
enum class FlushPhase { queued, running, waiting, given_up };  ///< waiting: for the next retry

/// Who brings it to the store.
enum class FlushedBy {
  queue,     ///< the thread that flushes what is committed, in the order of commits
  chosen,    ///< a flush of its own, which has not begun; when the commit comes first it is for the queue
  own_flush  ///< that flush, until it has ended, be it after the commit
};

struct VersionState {
  Life life = Life::none;
  FlushPhase flush = FlushPhase::queued;
  FlushedBy by = FlushedBy::queue;
  friend bool operator==(const VersionState&, const VersionState&) = default;
};

enum class VersionEvent {
  announce,          ///< by a rank
  stage,             ///< a piece is in the catalog, of a rank here, or out of what other nodes kept
  commit,            ///< all pieces are staged, and all ranks of the job agree
  record,            ///< the catalog took the commit
  add_segments,      ///< after nodes were lost, more of it is to be written here
  store,             ///< the last segment of this node is in the store
  choose,            ///< it is to be flushed before its commit
  capture_fails,     ///< it will never be committed
  own_flush_begins,  ///< before the commit
  own_flush_ends,
  attempt,  ///< a flush begins, for the first time or again
  attempt_succeeds,
  attempt_fails,  ///< to be tried again
  give_up,        ///< it will not be tried again by itself
  interrupt,      ///< what the attempt read has changed: it is to begin anew
  try_again,      ///< what was given up gets another chance
  drop
};

/// The state after the event; nothing when the event cannot happen in this state, which then stays as it is.
std::optional<VersionState> next(VersionState state, VersionEvent event);

struct Version : VersionState {
  struct Flushed {
    ChunkName name;
    std::uint64_t offset = 0;  ///< in the segment
  };
  std::uint64_t order = 0;           ///< of commit; flushes keep it
  std::optional<base::Error> error;  ///< of the last failed flush
  std::set<ClientId> pinned_by;
  std::set<ClientId> staged_by;                ///< ranks that are still connected, until the commit
  std::vector<std::uint64_t> chunks = {};      ///< of staged pieces, on each tier
  std::vector<std::uint64_t> granted = {};     ///< slots on each tier that ranks write, or have not staged yet
  std::optional<OpenCapture> capture;          ///< until the commit, or until a flush of its own has ended
  std::optional<double> begun_s;               ///< by the clock of NodeStateOptions; until it is committed or over
  std::vector<catalog::LocalSegment> delayed;  ///< that the catalog could not take yet
  bool replicate_first = false;                ///< others are to read its slots before the store's turn comes
  /// Set: nodes may skip it, each for itself, and it is not flushed before that time, by the clock of NodeStateOptions.
  /// (docs/adr/0050)
  std::optional<double> held_back_until_s;
  /// Not committed, and its rest is where this launch cannot look: it goes before a checkpoint is refused.
  bool remains = false;
  /// Of the redundancy that is kept here for it: all positions of the group have their part in the store.
  std::set<std::uint64_t> stored_epochs;
  std::uint64_t bytes_flushed = 0;  ///< by the flush that runs or failed last
  /// By tier, slots whose chunk is in the temporary segment, too: they can be used again once the catalog says so.
  std::map<std::uint32_t, std::map<std::uint64_t, Flushed>> flushed;

  /// A part of it is in the catalog.
  bool held() const { return life >= Life::staged; }
  /// It is flushed before its commit, or will be, or that flush has not ended.
  bool write_through() const { return by != FlushedBy::queue; }
  bool wants_flush() const {
    return life == Life::committed && (flush == FlushPhase::queued || flush == FlushPhase::waiting);
  }
  bool on_its_way() const { return life == Life::committed && flush != FlushPhase::given_up && !held_back_until_s; }
  std::uint64_t slots_granted() const;
  std::uint64_t chunks_flushed() const;  ///< that are in their slots, too
  /// Nobody has anything to do with it any more.
  bool over() const;
};

}  // namespace perdure::engine
