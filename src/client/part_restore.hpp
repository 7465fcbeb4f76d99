#pragma once
// A region of one rank that wrote a version, for any rank of this launch: memory that is no part of an array, taken one
// by one where there are other ranks now.
#include <map>
#include <string>

#include "capture/matching.hpp"
#include "client/shared_chunks.hpp"

namespace perdure::client {

/// Of one version, once: describe(), then read().
class PartRestore {
 public:
  /// `target`: its id, and memory of this rank. `of`: the rank that stored it; other ranks may ask for others.
  /// `regions`: what is protected says which stored region has that id now.
  PartRestore(Job& job, VersionReader& reader, std::uint32_t of, const capture::Region& target,
              const capture::RegionTable& regions)
      : job_(job), reader_(reader), of_(of), target_(target), regions_(regions) {}
  /// [local] That it is stored as memory of this size. PERDURE_MISMATCH (wrong_use()) otherwise.
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
  plan::StoredCapture capture_;                               // of that rank
  capture::ChunkRange range_;                                 // of the region in it
  std::map<plan::StoredChunk, plan::ChunkReading> by_chunk_;  // that ranks of this node need
};

}  // namespace perdure::client
