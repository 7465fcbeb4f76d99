#pragma once
// Fetches and rebuilds pieces that this node's ranks need, into its own slots, verified, and stages them. What turns
// out to be damaged or out of reach on the way counts as lost, too. (docs/adr/0014)
#include <atomic>
#include <mutex>

#include "engine/ledger/ledger.hpp"
#include "engine/recover/export_collection.hpp"
#include "engine/recover/piece_network.hpp"
#include "engine/recover/reconstruction.hpp"
#include "engine/replicate/parity_store.hpp"

namespace perdure::engine {

class Recoverer {
 public:
  /// `parity`: of the job, if it has any.
  Recoverer(Ledger& ledger, Reports& reports, std::shared_ptr<PieceNetwork> network,
            std::shared_ptr<ParityStore> parity, unsigned threads)
      : ledger_(ledger),
        reports_(reports),
        network_(std::move(network)),
        parity_(std::move(parity)),
        threads_(threads) {}
  /// Asks the nodes that the request names. Recovers all wanted ranks or none: after a failure nothing stays in slots.
  /// What this node has of the version has to be pinned by whoever asks for it.
  base::Result<std::vector<ipc::RankRecovery>> recover(const ipc::Recover& request);
  /// It ends soon; what it waits for may take its time.
  void stop() { stopping_ = true; }
  /// It ends at once, whomever it waits for.
  void break_off();

 private:
  struct Chunk {
    std::size_t piece = 0;
    std::uint32_t chunk = 0;
  };
  struct Work;
  struct FaultySource {
    std::optional<redundancy::Block> bad;
    std::optional<unsigned> unreachable;
  };
  void use(PieceLink* link);
  base::Result<std::vector<ipc::RankRecovery>> recover_over(PieceLink& link, const ipc::Recover& request,
                                                            std::optional<unsigned> own);
  bool held_here(const segment::VersionId& id, std::uint32_t rank);
  std::vector<ExportedPieces> gather(const ipc::Recover& request, std::optional<unsigned> own,
                                     ExportCollection& collection);
  void tell_suspects(Work& work, ExportCollection& collection);
  void run(Work& work);
  void run_all(Work& work);
  base::Status recover_chunk(Work& work, const Chunk& which);
  base::Status try_once(Work& work, const Chunk& which, const ReconstructionTask& task);
  base::Result<segment::ChunkEntry> make(Work& work, const ReconstructionTask& task, const tier::SlotAddress& slot,
                                         FaultySource& culprit);
  base::Result<segment::ChunkEntry> make_at_server(Work& work, const ReconstructionTask& task,
                                                   const tier::SlotAddress& slot, const EncodingTask::Source& parity);
  base::Status stage(const ipc::Recover& request, Work& work);
  void give_back(const Work& work);

  Ledger& ledger_;
  Reports& reports_;
  std::shared_ptr<PieceNetwork> network_;
  std::shared_ptr<ParityStore> parity_;
  unsigned threads_;
  std::atomic<bool> stopping_ = false;
  std::mutex link_mutex_;
  PieceLink* link_ = nullptr;  ///< that recover() uses now; guarded
};

}  // namespace perdure::engine
