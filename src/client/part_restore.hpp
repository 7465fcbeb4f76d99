#pragma once
// Restores a region of one writing rank into any rank of this launch. The region is memory of one rank, not part of an
// array, taken one by one when there are other ranks now.
#include <map>
#include <string>

#include "capture/matching.hpp"
#include "client/shared_chunks.hpp"

namespace perdure::client {

/// Restores from one version, once: describe(), then read().
class PartRestore {
 public:
  /// `target`: the region's id, and memory of this rank. `of`: the rank that stored it; other ranks may ask for others.
  /// `regions`: the protected regions say which stored region has that id now.
  PartRestore(Job& job, VersionReader& reader, std::uint32_t of, const capture::Region& target,
              const capture::RegionTable& regions)
      : job_(job), reader_(reader), of_(of), target_(target), regions_(regions) {}
  /// [local] Checks that it is stored as memory of this size. PERDURE_MISMATCH (wrong_use()) otherwise.
  base::Status describe();
  bool wrong_use() const { return wrong_use_; }
  /// [collective] All ranks get an error when one does.
  base::Status read();
  /// SharedChunks::source().
  int source() const { return chunks_.source(); }

 private:
  struct Told;
  base::Result<std::vector<segment::RegionEntry>> entries();
  base::Status find(const std::vector<segment::RegionEntry>& entries);
  void add(std::size_t rank, const Told& told);
  base::Status copy(const plan::StoredChunk& chunk, const SharedChunks::Read& read) const;

  Job& job_;
  VersionReader& reader_;
  std::uint32_t of_;
  const capture::Region& target_;
  const capture::RegionTable& regions_;
  SharedChunks chunks_{job_, reader_};
  bool wrong_use_ = false;
  plan::StoredCapture capture_;                               // capture of that rank
  capture::ChunkRange range_;                                 // range of the region in it
  std::map<plan::StoredChunk, plan::ChunkReading> by_chunk_;  // chunks that ranks of this node need
};

}  // namespace perdure::client
