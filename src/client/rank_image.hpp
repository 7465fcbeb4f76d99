#pragma once
// One rank's data in one version, wherever it can be read from here: slots of this node first, then the store. Every
// chunk is verified in the pass that copies it; one that fails is set aside and read from the next place.
#include <map>
#include <memory>
#include <optional>

#include "capture/target.hpp"
#include "client/job.hpp"
#include "client/sources.hpp"

namespace perdure::client {

/// How much was read from where, each chunk as a whole.
struct BytesRead {
  std::uint64_t slots = 0, store = 0;
};

class RankImage {
 public:
  /// `on_this_node`: the engine here should have it; its slots stay as they are until Unpin or the end of the
  /// connection. `stored`: the segment in the store that has it. PERDURE_NOT_FOUND when it is in neither.
  static base::Result<RankImage> locate(Job& job, const segment::VersionId& id, std::uint32_t rank, bool on_this_node,
                                        const StoredSegment* stored);
  /// Entries, lengths and hashes: the same wherever it is read from.
  const segment::Piece& piece() const { return piece_; }
  std::vector<capture::ChunkRange> ranges() const { return capture::cut(piece_.capture_bytes(), piece_.chunk_bytes); }
  /// The whole chunk to `spans`, which together are as long; where they have no address it is only verified. Its
  /// content is undefined there after a failure, which comes when no place has the chunk as it was captured.
  base::Status read_chunk(std::size_t chunk, const std::vector<capture::MemorySpan>& spans);
  const BytesRead& bytes_read() const { return read_; }
  /// The next chunk of the store opens it again.
  void close_store() { bytes_.reset(); }
  /// Tells the engine of slots that could not be read, so that it does not offer them again.
  void set_aside_unread();
  /// What was found damaged in the store, twice, and nobody else has read yet.
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
  std::optional<ipc::PlannedSegment> temporary_;  // that chunks without a slot are in
  std::vector<bool> bad_;                         // per chunk: do not use the slot
  std::map<std::size_t, base::Error> unread_;     // chunks whose slots are not known to be damaged, and why
  std::optional<StoredSegment> stored_;
  std::unique_ptr<segment::ByteSource> bytes_;  // the stored segment, opened when first needed
  segment::Piece stored_piece_;                 // with offsets in that segment
  std::optional<Suspect> suspect_;
  BytesRead read_;
};

}  // namespace perdure::client
