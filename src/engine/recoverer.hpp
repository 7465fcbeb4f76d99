#pragma once
// Fetches and rebuilds pieces that this node's ranks need, into its own slots, verified, and stages them. What turns
// out to be damaged or out of reach on the way counts as lost, too. (docs/adr/0014)
#include <atomic>

#include "engine/core.hpp"
#include "engine/endpoint_link.hpp"
#include "engine/parity_keeper.hpp"
#include "engine/reconstruction.hpp"

namespace perdure::engine {

struct RecoveredRank {
  std::uint32_t rank = 0;
  std::uint64_t bytes_moved = 0, bytes_rebuilt = 0;
};

class Recoverer {
 public:
  /// `parity`: of the job, if it has any.
  Recoverer(Core& core, std::mutex& lock, Reports& reports, std::shared_ptr<PeerNetwork> network,
            std::shared_ptr<ParityKeeper> parity, unsigned threads)
      : core_(core),
        lock_(lock),
        reports_(reports),
        network_(std::move(network)),
        parity_(std::move(parity)),
        threads_(threads) {}
  /// All of them or none: nothing of what failed stays in slots.
  base::Result<std::vector<RecoveredRank>> recover(const ipc::Recover& request);
  void stop() { stopping_ = true; }

 private:
  struct Chunk {
    std::size_t piece = 0;
    std::uint32_t chunk = 0;
  };
  struct Work;
  struct Culprit {
    std::optional<redundancy::Block> bad;
    std::optional<unsigned> unreachable;
  };
  bool held_here(const segment::VersionId& id, std::uint32_t rank);
  void run(Work& work);
  base::Status recover_chunk(Work& work, const Chunk& which);
  base::Status try_once(Work& work, const Chunk& which, const ReconstructionTask& task);
  base::Result<segment::ChunkEntry> make(Work& work, const ReconstructionTask& task, const tier::SlotAddress& slot,
                                         Culprit& culprit);
  base::Result<segment::ChunkEntry> make_at_server(Work& work, const ReconstructionTask& task,
                                                   const tier::SlotAddress& slot, const EncodingTask::Source& parity);
  base::Status stage(const ipc::Recover& request, Work& work);
  void give_back(const Work& work);

  Core& core_;
  std::mutex& lock_;
  Reports& reports_;
  std::shared_ptr<PeerNetwork> network_;
  std::shared_ptr<ParityKeeper> parity_;
  unsigned threads_;
  std::atomic<bool> stopping_ = false;
};

}  // namespace perdure::engine
