#pragma once
// Records a capture that its ranks announced: what they will write, and what they have written.
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "catalog/state.hpp"
#include "engine/ledger/write_times.hpp"
#include "ipc/messages.hpp"

namespace perdure::engine {

/// The values of option flush.during_capture.
enum class DuringCapture { automatic, always, never };

/// The place of a chunk that is announced and not yet written.
inline constexpr std::uint32_t kNotWritten = 0xFFFFFFFE;

/// A chunk of a version, by its rank and its number in the rank's piece.
struct ChunkName {
  std::uint32_t rank = 0;
  std::uint32_t chunk = 0;
  friend auto operator<=>(const ChunkName&, const ChunkName&) = default;
};

struct OpenCapture {
  std::uint32_t ranks = 0;
  std::vector<catalog::LocalSegment> segments;     ///< of this node
  std::size_t members = 0;                         ///< ranks in them
  std::map<std::uint32_t, segment::Piece> pieces;  ///< by rank; ChunkEntry::place as in the catalog, or kNotWritten
  std::map<std::uint32_t, ClientId> clients;       ///< by rank, until the rank has staged its piece
  std::vector<ChunkName> written;                  ///< in the order of the writes
  bool contradicted = false;                       ///< ranks disagree about it, so nothing is known of it
  bool deserted = false;                           ///< a rank that may belong to it ended before it announced its piece
  std::optional<base::Error> failure;              ///< why it cannot succeed any more

  /// Adds a rank's announcement. False if it contradicts what other ranks announced, now or before. A complete
  /// announcement stays as it is.
  bool add(ClientId client, const ipc::Begin& begin);
  /// Records the places of chunks of a complete piece that were not reported before.
  void complete(const segment::Piece& piece);
  /// True if every rank of this node has announced its piece, so that the segments can be laid out.
  bool announced() const;
  /// True if a rank's announcement is still to come.
  bool being_announced() const { return !announced() && !contradicted && !deserted && !failure; }
  /// True if this rank writes a part of it.
  bool has(std::uint32_t rank) const;
  std::uint64_t bytes() const;
  segment::ChunkEntry* find(const ChunkName& name);
  const segment::ChunkEntry* find(const ChunkName& name) const { return const_cast<OpenCapture*>(this)->find(name); }
};

/// Decides whether a capture of `bytes` is flushed before its commit, if the first tier has room for `room_bytes` now.
/// A capture that fits is not slowed down by its own flush, and if it is aborted the store has no trace of it.
bool flush_before_commit(DuringCapture mode, std::uint64_t bytes, std::uint64_t room_bytes);

}  // namespace perdure::engine
