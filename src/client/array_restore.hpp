#pragma once
// Arrays of a version are gathered from the captures of any ranks: as many or fewer or more, with other boxes. A node
// reads each chunk that it needs from the store once. (docs/adr/0036)
#include <map>
#include <string>
#include <vector>

#include "capture/matching.hpp"
#include "client/shared_chunks.hpp"
#include "plan/node_wants.hpp"

namespace perdure::client {

/// Restores the arrays of one version, once: describe(), then read().
class ArrayRestore {
 public:
  /// `wanted`: the arrays of this rank; other ranks may want others, or none. With `wanted.all`, no stored array may be
  /// left over. Memory of one rank may be: with another number of ranks it belongs to nobody (PartRestore).
  ArrayRestore(Job& job, VersionReader& reader, const capture::RegionTable& regions, capture::Wanted wanted);
  /// [collective] Reads the version's description of all arrays. Writes nothing. When it fails, `wrong_use()` says
  /// whether this rank's wants are the cause: PERDURE_MISMATCH.
  base::Status describe();
  bool wrong_use() const { return matching_.wrong_use; }
  /// Gives array `id` without boxes, after describe(). PERDURE_MISMATCH when the version has no such array.
  base::Result<segment::ArrayEntry> array(std::int32_t id) const;
  /// Gives the first region that is memory of one rank, as a text, after describe(). Empty: all stored regions are
  /// arrays. It is the same on all ranks.
  const std::string& local() const { return local_; }
  /// Gives wanted arrays that are not stored, and need not be, after describe(); ascending.
  const std::vector<std::int32_t>& absent() const { return matching_.absent; }
  /// [collective] Fills the wanted boxes. All ranks get an error when one does.
  base::Status read();
  /// Gives, after read(), how many of the stored boxes this rank keeps: those that its node wants something of.
  std::size_t boxes_kept() const;
  /// SharedChunks::source().
  int source() const { return chunks_.source(); }

 private:
  struct Array {
    std::int32_t id = 0;
    segment::ArrayEntry entry;             // without boxes
    std::int32_t to = capture::kNoRegion;  // the wanted region that it fills
  };
  struct ToldPiece;
  struct ToldArrays;
  struct ArrayMatching {  // whether the stored arrays match this rank's wants
    capture::Wanted wanted;
    std::vector<std::int32_t> absent = {};
    bool wrong_use = false;
  };
  struct Copy {  // a run of bytes from a chunk to memory
    std::uint64_t from = 0;
    std::byte* to = nullptr;
    std::uint64_t bytes = 0;
  };
  struct Pair {  // a stored box and the wanted box that it fills
    std::size_t array = 0;
    const plan::StoredBox* stored = nullptr;
    const array::Strided* wanted = nullptr;
    std::byte* address = nullptr;
  };
  base::Status look_at_pieces(std::vector<std::byte>& told);
  base::Result<ToldPiece> look_at(std::uint32_t rank, std::uint64_t chunk_bytes,
                                  const std::vector<segment::RegionEntry>& entries);
  base::Status add_array(std::int32_t id, segment::ArrayEntry array);
  base::Status hear_pieces(base::ConstByteSpan bytes, std::vector<std::vector<plan::StoredBox>>& near);
  base::Result<std::vector<segment::RegionEntry>> entries() const;
  base::Status check_wanted();
  base::Status add_own_wants();
  base::Status plan_readings(std::vector<std::vector<plan::StoredBox>> near);
  base::Status hear_wanted(std::size_t rank, base::ConstByteSpan bytes);
  base::Status describe_lost(const std::vector<std::uint32_t>& ranks, std::vector<ToldPiece>& told);
  base::Status copy(const plan::StoredChunk& chunk, const SharedChunks::Read& read);
  template <class Take>
  void each_copy(const plan::StoredChunk& chunk, const Take& take) const;
  std::vector<capture::MemorySpan> spans_of(const plan::StoredChunk& chunk, std::uint64_t length) const;

  Job& job_;
  VersionReader& reader_;
  const capture::RegionTable& regions_;
  ArrayMatching matching_;
  SharedChunks chunks_{job_, reader_};
  std::string local_;                                 // a region that is not an array
  std::vector<Array> arrays_;                         // by id
  std::vector<std::byte> pieces_;                     // at a leader: the arrays in its node's pieces, encoded
  plan::StoredCaptures captures_;                     // captures that this node needs something of
  std::vector<plan::StoredArray> stored_;             // as arrays_: stored boxes that touch this node's wants
  std::vector<plan::NodeWants> wants_;                // as arrays_
  std::map<std::uint32_t, std::vector<Pair>> pairs_;  // by the rank that wrote them
  std::vector<std::vector<array::Strided>> memory_;   // memory that pairs_ point to
  std::vector<plan::ChunkReading> readings_;          // chunks that this node reads
  std::vector<std::byte> buffer_;                     // content of a chunk that goes to memory in short runs
};

}  // namespace perdure::client
