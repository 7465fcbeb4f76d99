#pragma once
// Tracks captures under way: what their ranks announced and have written, and which are flushed before their commit
// (docs/adr/0005).
#include <optional>
#include <vector>

#include "engine/ledger/node_tables.hpp"
#include "ipc/messages.hpp"

namespace perdure::engine {

/// News of a capture for a flush that began before the commit.
struct CaptureNews {
  enum class State { open, committed, over } state = State::over;
  std::vector<ChunkName> written;
  std::vector<segment::ChunkEntry> chunks;  ///< as long as `written`
};

class Captures {
 public:
  explicit Captures(NodeTables& node) : node_(node) {}

  /// nullptr: no capture of this version is open.
  OpenCapture* find(const segment::VersionId& id);
  const OpenCapture* find(const segment::VersionId& id) const;
  /// Records a rank's announcement. True when every rank of the node has announced its piece now, so that the caller
  /// can decide how the capture is flushed. A capture that contradicts itself is reported, and flushed after the commit
  /// only.
  bool announce(ClientId client, const ipc::Begin& begin);
  /// A rank has written a chunk into its slot. Fails with PERDURE_INVALID_ARGUMENT if the chunk differs from its
  /// announcement.
  base::Status note_written(const ipc::Written& written);
  /// Returns the piece with the present places of its chunks. Fails with PERDURE_INVALID_ARGUMENT if the piece names
  /// slots that were not granted for it, or differs from the announcement. A failed capture returns its own error.
  base::Result<segment::Piece> placed(ClientId client, const ipc::Stage& stage);
  /// The version will never be committed.
  void fail(const segment::VersionId& id, const base::Error& error);
  /// The client ended. `rank`: the rank that it declared; nullopt for a tool.
  void leave(ClientId client, std::optional<std::uint32_t> rank);
  /// The version has no part in the catalog, either not yet or no longer.
  void over(const segment::VersionId& id);

  // ---- flushed before the commit
  /// The version is to be flushed before its commit, unless its capture failed.
  void choose_write_through(const segment::VersionId& id);
  /// True if the version's flush before its commit runs, is about to begin, or has not ended yet.
  bool write_through(const segment::VersionId& id) const;
  /// True if write_through(), or if that may be chosen once its ranks have announced what they write, should slots run
  /// out.
  bool may_be_written_through(const segment::VersionId& id) const;
  /// Returns the next capture whose flush begins before its commit, and marks it as begun. nullopt if there is none.
  std::optional<segment::VersionId> next_write_through();
  /// True if any capture is flushed before its commit, or such a flush has not ended yet.
  bool any_write_through() const;
  void write_through_over(const segment::VersionId& id, const std::optional<base::Error>& error);
  /// Returns the chunks written since the first `seen`, and increases `seen` by their number.
  CaptureNews news(const segment::VersionId& id, std::size_t& seen) const;

  // ---- for other parts of the node's state
  /// True if producers wait for slots, or will ask for more.
  bool slots_wanted() const;
  /// Counts, over all captures, the announced chunks that are not written and have no slot.
  std::uint64_t chunks_to_come() const;
  /// Returns the capture if its chunks can be replicated as they are written. Then all are announced, and none leaves
  /// its slot before the commit. nullptr otherwise.
  const OpenCapture* to_replicate(const segment::VersionId& id) const;

 private:
  NodeTables& node_;
};

}  // namespace perdure::engine
