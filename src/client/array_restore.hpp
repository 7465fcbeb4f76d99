#pragma once
// Arrays of a version, gathered from what any ranks stored: as many or fewer or more, with other boxes. What is read
// twice on a node is read once from the store. (docs/adr/0036)
#include <map>
#include <set>
#include <vector>

#include "capture/region.hpp"
#include "client/shared_chunks.hpp"

namespace perdure::client {

/// Of one version, once: describe(), then read().
class ArrayRestore {
 public:
  /// `wanted`: the arrays of this rank, ascending; other ranks may want others, or none.
  ArrayRestore(Job& job, VersionReader& reader, const capture::RegionTable& regions,
               const std::vector<std::int32_t>& wanted);
  /// [collective] What the version has of all arrays. Nothing is written. When it fails, `wrong_use()` says whether it
  /// was for what this rank wants: PERDURE_NOT_FOUND or PERDURE_MISMATCH.
  base::Status describe();
  bool wrong_use() const { return wrong_use_; }
  /// After describe(): without boxes. PERDURE_NOT_FOUND when the version has none of that id.
  base::Result<segment::ArrayEntry> array(std::int32_t id) const;
  /// [collective] Fills the wanted boxes. All ranks get an error when one does.
  base::Status read();
  /// SharedChunks::source().
  int source() const { return chunks_.source(); }

 private:
  struct Array {
    std::int32_t id = 0;
    segment::ArrayEntry entry;  // without boxes
    std::vector<plan::StoredBox> stored;
  };
  struct ToldPiece;
  struct Copy {  // from a chunk to memory
    std::uint64_t from = 0;
    std::byte* to = nullptr;
    std::uint64_t bytes = 0;
  };
  struct Pair {  // of what is stored and what is wanted here
    std::size_t array = 0;
    const plan::StoredBox* stored = nullptr;
    const array::Strided* wanted = nullptr;
    std::byte* address = nullptr;
  };
  base::Status tell_pieces(std::vector<std::byte>& told);
  base::Status hear_pieces(base::ConstByteSpan bytes);
  base::Status check_wanted();
  base::Status plan_readings();
  base::Status hear_wanted(std::size_t rank, base::ConstByteSpan bytes);
  base::Result<std::vector<ToldPiece>> describe_lost(const std::vector<std::uint32_t>& ranks);
  base::Status copy(const plan::StoredChunk& chunk, const SharedChunks::Read& read);
  template <class Take>
  void each_copy(const plan::StoredChunk& chunk, const Take& take) const;
  std::vector<capture::MemorySpan> spans_of(const plan::StoredChunk& chunk, std::uint64_t length) const;

  Job& job_;
  VersionReader& reader_;
  const capture::RegionTable& regions_;
  const std::vector<std::int32_t>& wanted_;
  SharedChunks chunks_{job_, reader_};
  bool wrong_use_ = false;
  std::vector<Array> arrays_;                         // by id
  std::vector<plan::StoredCapture> captures_;         // by rank that wrote
  std::vector<plan::StoredArray> stored_;             // as arrays_
  std::vector<std::vector<plan::WantedBox>> wants_;   // as arrays_, of all ranks of this node
  std::map<std::uint32_t, std::vector<Pair>> pairs_;  // by rank that wrote
  std::vector<std::vector<array::Strided>> memory_;   // that pairs_ point to
  std::vector<plan::ChunkReading> readings_;          // of this node
  std::vector<std::byte> buffer_;                     // of a chunk that goes to memory in short runs
};

}  // namespace perdure::client
