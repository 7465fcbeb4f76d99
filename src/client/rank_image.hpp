#pragma once
// Reads one rank's data in one version from the places that this node can reach: first its slots, then the store. Every
// chunk is verified in the pass that copies it. A chunk that fails is set aside and read from the next place.
#include <map>
#include <memory>
#include <optional>

#include "capture/target.hpp"
#include "client/job.hpp"
#include "client/sources.hpp"

namespace perdure::client {

/// The bytes read from each place; chunks count as a whole.
struct BytesRead {
  std::uint64_t slots = 0, store = 0;
};

class RankImage {
 public:
  /// Finds the piece. `on_this_node`: the engine here should have it; its slots stay as they are until Unpin or the end
  /// of the connection. `stored`: the segment in the store that has it. PERDURE_NOT_FOUND when it is in neither.
  static base::Result<RankImage> locate(Job& job, const segment::VersionId& id, std::uint32_t rank, bool on_this_node,
                                        const StoredSegment* stored);
  /// The entries, lengths and hashes: the same wherever it is read from.
  const segment::Piece& piece() const { return piece_; }
  std::vector<capture::ChunkRange> ranges() const { return capture::cut(piece_.capture_bytes(), piece_.chunk_bytes); }
  /// Reads the whole chunk to `spans`, which together are as long; spans without an address are only verified. After a
  /// failure the content there is undefined. It fails when no place has the chunk as it was captured.
  base::Status read_chunk(std::size_t chunk, const std::vector<capture::MemorySpan>& spans);
  const BytesRead& bytes_read() const { return read_; }
  /// Closes the store's file; the next chunk from the store opens it again.
  void close_store() { bytes_.reset(); }
  /// Tells the engine of slots that could not be read, so that it does not offer them again.
  void set_aside_unread();
  /// The segment that was found damaged in the store, twice, and that no other reader has read yet.
  const std::optional<Suspect>& suspect() const { return suspect_; }

 private:
  RankImage(Job& job, const segment::VersionId& id, const StoredSegment* stored) : job_(&job), id_(id) {
    if (stored != nullptr) stored_ = *stored;
  }
  base::Status locate_in_slots(std::uint32_t rank);
  base::Status locate_in_store(std::uint32_t rank);
  base::Status look_in_store(std::uint32_t rank);
  base::Status read_here(std::size_t chunk, const std::vector<capture::MemorySpan>& spans);
  base::Status read_from_temporary(std::size_t chunk, const std::vector<capture::MemorySpan>& spans);
  void note_bad(std::size_t chunk, const base::Error& why);
  void set_aside(std::size_t chunk, const base::Error& why);
  base::Status read_from_slot(std::size_t chunk, const std::vector<capture::MemorySpan>& spans);
  base::Status read_from_store(std::size_t chunk, const std::vector<capture::MemorySpan>& spans);
  base::Status verify_from_store(std::size_t chunk, const std::vector<capture::MemorySpan>& spans);
  base::Status read_from(const segment::ByteSource& source, std::uint64_t begin, std::size_t chunk,
                         const std::vector<capture::MemorySpan>& spans) const;

  Job* job_;
  segment::VersionId id_;
  segment::Piece piece_;
  std::vector<tier::SlotAddress> slots_;          // per chunk; empty: not on this node
  std::optional<ipc::PlannedSegment> temporary_;  // the segment that has the chunks without a slot
  std::vector<bool> bad_;                         // per chunk: do not use the slot
  std::map<std::size_t, base::Error> unread_;     // chunks whose slots are not known to be damaged, and why
  std::optional<StoredSegment> stored_;
  std::unique_ptr<segment::ByteSource> bytes_;  // the stored segment, opened when first needed
  segment::Piece stored_piece_;                 // with offsets in that segment
  std::optional<Suspect> suspect_;
  BytesRead read_;
};

}  // namespace perdure::client
