#pragma once
// Brings chunks of any ranks' pieces to a node once, from another node or from the store. All ranks of this launch that
// need a chunk read it out of that node's slots. (docs/adr/0036)
#include <functional>
#include <set>
#include <vector>

#include "client/version_reader.hpp"
#include "plan/resharding.hpp"

namespace perdure::client {

class SharedChunks {
 public:
  SharedChunks(Job& job, VersionReader& reader) : job_(job), reader_(reader) {}
  /// Reads the whole chunk to `spans`, and verifies it; spans without an address are only verified.
  using Read = std::function<base::Status(const std::vector<capture::MemorySpan>& spans)>;
  using Take = std::function<base::Status(const plan::StoredChunk& chunk, const Read& read)>;
  /// [collective] Calls `take` once for each chunk that this rank is a user of, in any order. `readings`: the readings
  /// of this node, the same on all its ranks. All ranks get an error when one does.
  base::Status read(const std::vector<plan::ChunkReading>& readings, const Take& take);
  /// Bits of perdure_progress::restore_source for data that came by guests: kFromNodes, kFromStore.
  int source() const { return source_; }

 private:
  using Chunks = std::set<plan::StoredChunk>;
  /// The chunks that this rank reads for others, too, and has not lent yet: the next one last.
  struct Rounds {
    std::vector<const plan::ChunkReading*> left;
    std::uint64_t at_once = 0;  ///< bytes to lend in a round
    bool takes = false;         ///< this rank takes chunks that other ranks lend
  };
  base::Status read_from_nodes(Chunks wanted, const Take& take);
  base::Status read_shared(const std::vector<const plan::ChunkReading*>& shared, const Take& take);
  base::Result<bool> lend_round(Rounds& rounds, const Take& take);
  base::Status bring(const Chunks& wanted);
  base::Result<std::vector<ipc::GuestChunk>> guests() const;
  base::Status take_guest(const ipc::GuestChunk& guest, const Take& take);
  base::Status take_from_memory(const plan::StoredChunk& chunk, base::ConstByteSpan bytes, const Take& take);
  base::Status lend(const plan::ChunkReading& reading, const Take& take);
  base::Status take_from_image(const plan::StoredChunk& chunk, const Take& take);
  void release();

  Job& job_;
  VersionReader& reader_;
  Chunks mine_;  // own chunks that were not taken yet
  int source_ = 0;
};

}  // namespace perdure::client
