#pragma once
// Captures under way: what their ranks announced, what they have written, and those that are flushed before their
// commit. (docs/adr/0005)
#include <optional>
#include <vector>

#include "engine/ledger/node_tables.hpp"
#include "ipc/messages.hpp"

namespace perdure::engine {

/// What a flush that began before the commit has to know next.
struct CaptureNews {
  enum class State { open, committed, over } state = State::over;
  std::vector<ChunkName> written;
  std::vector<segment::ChunkEntry> chunks;  ///< as long as `written`
};

class Captures {
 public:
  explicit Captures(NodeTables& node) : node_(node) {}

  /// nullptr: none of this version is open.
  OpenCapture* find(const segment::VersionId& id);
  const OpenCapture* find(const segment::VersionId& id) const;
  /// True when every rank of the node has announced its piece now, so that it can be decided how the capture is
  /// flushed. A capture that contradicts itself is reported, and flushed after the commit only.
  bool announce(ClientId client, const ipc::Begin& begin);
  /// A rank has written a chunk into its slot. PERDURE_INVALID_ARGUMENT: that is not what it announced.
  base::Status note_written(const ipc::Written& written);
  /// The piece with its chunks where they are by now. PERDURE_INVALID_ARGUMENT: it names slots that were not granted
  /// for it, or is not what was announced; else why the capture failed.
  base::Result<segment::Piece> placed(ClientId client, const ipc::Stage& stage);
  /// It will never be committed.
  void fail(const segment::VersionId& id, const base::Error& error);
  /// The client ended. `rank`: what it said it is; nothing for a tool.
  void leave(ClientId client, std::optional<std::uint32_t> rank);
  /// Nothing of the version is in the catalog, or any more.
  void over(const segment::VersionId& id);

  // ---- flushed before the commit
  /// It is to be, unless it failed.
  void choose_write_through(const segment::VersionId& id);
  /// Its flush runs, or is about to, before its commit, or has not ended yet.
  bool write_through(const segment::VersionId& id) const;
  /// So it is, or will be when its ranks have said what they write, should slots run out.
  bool may_be_written_through(const segment::VersionId& id) const;
  /// The next capture whose flush begins before its commit; it is under way from now on.
  std::optional<segment::VersionId> next_write_through();
  /// Some capture is, or its flush has not ended yet.
  bool any_write_through() const;
  void write_through_over(const segment::VersionId& id, const std::optional<base::Error>& error);
  /// Of chunks written since the first `seen`, which grows.
  CaptureNews news(const segment::VersionId& id, std::size_t& seen) const;

  // ---- what others want to know of them
  /// Producers wait for slots, or will ask for more.
  bool slots_wanted() const;
  /// Of all captures: chunks that are announced, not written, and without a slot.
  std::uint64_t chunks_to_come() const;
  /// The capture if its chunks can be replicated as they are written: all are announced, and none leaves its slot
  /// before the commit. nullptr otherwise.
  const OpenCapture* to_replicate(const segment::VersionId& id) const;

 private:
  NodeTables& node_;
};

}  // namespace perdure::engine
