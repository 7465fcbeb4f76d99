#pragma once
// A capture that its ranks announced: what they will write, and what they have written.
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "catalog/state.hpp"
#include "engine/ledger/write_times.hpp"
#include "ipc/messages.hpp"

namespace perdure::engine {

/// Option flush.during_capture.
enum class DuringCapture { automatic, always, never };

/// Place of a chunk that is announced and not yet written.
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
  std::map<std::uint32_t, ClientId> clients;       ///< of the ranks that have not staged their piece
  std::vector<ChunkName> written;                  ///< in this order
  bool contradicted = false;                       ///< ranks disagree about it: nothing is known of it
  bool deserted = false;               ///< one ended that may have been a rank of it and had not announced its piece
  std::optional<base::Error> failure;  ///< why it cannot succeed any more

  /// False when it contradicts what other ranks said, now or before. What is complete stays as it is.
  bool add(ClientId client, const ipc::Begin& begin);
  /// Remembers where each chunk of a complete piece is that nobody told of before.
  void complete(const segment::Piece& piece);
  /// Every rank of this node has announced its piece: the segments can be laid out.
  bool announced() const;
  /// Somebody's announcement is still to come.
  bool being_announced() const { return !announced() && !contradicted && !deserted && !failure; }
  /// This rank writes a part of it.
  bool has(std::uint32_t rank) const;
  std::uint64_t bytes() const;
  segment::ChunkEntry* find(const ChunkName& name);
  const segment::ChunkEntry* find(const ChunkName& name) const { return const_cast<OpenCapture*>(this)->find(name); }
};

/// Whether a capture of `bytes` is flushed before its commit when the first tier can give `room_bytes` at once: one
/// that fits is not slowed down by its own flush, and when it is aborted the store never hears of it.
bool flush_before_commit(DuringCapture mode, std::uint64_t bytes, std::uint64_t room_bytes);

}  // namespace perdure::engine
