#pragma once
// Fetches and rebuilds chunks into slots of this node, verified, from what engines export. A chunk that turns out to be
// damaged or unreachable counts as lost, too. Its user decides what the chunks become (docs/adr/0014).
#include <atomic>
#include <mutex>

#include "engine/ledger/ledger.hpp"
#include "engine/recover/export_collection.hpp"
#include "engine/recover/piece_network.hpp"
#include "engine/recover/reconstruction.hpp"
#include "engine/replicate/parity_store.hpp"

namespace perdure::engine {

/// The objects that recoveries of a node work with.
struct RecoveryContext {
  Ledger& ledger;
  Reports& reports;
  std::shared_ptr<PieceNetwork> network;
  std::shared_ptr<ParityStore> parity;  ///< of the job, if it has any
  unsigned threads = 1;
};

/// The engines that one recovery asks, and the link to them.
struct AskedNodes {
  PieceLink& link;  ///< its positions are the nodes
  std::optional<unsigned> own;
};

class ChunkRecovery {
 public:
  struct Item {
    ChunkName name;
    std::optional<segment::ChunkEntry> made = {};  ///< the chunk in its slot; nullopt: not made
    bool rebuilt = false;                          ///< not simply fetched from a node that still has it
  };
  enum class Wanted { all, some };  ///< some: if there is no room for all

  /// `exported`: by node, followed by the parity servers.
  ChunkRecovery(const RecoveryContext& context, const std::atomic<bool>& stopping, const AskedNodes& nodes,
                const segment::VersionId& id, std::vector<ExportedPieces> exported);
  /// Gives back the slots of chunks that nobody took over.
  ~ChunkRecovery();
  ChunkRecovery(const ChunkRecovery&) = delete;
  ChunkRecovery& operator=(const ChunkRecovery&) = delete;

  /// Fails with PERDURE_NOT_FOUND if no exporter has anything of it.
  base::Result<segment::Piece> piece(std::uint32_t rank) const { return reconstruction_.piece(rank); }
  void want(ChunkName name) { items_.push_back({name}); }
  /// Makes the wanted chunks that are not made yet. Evicts at most what `room` allows. Returns the first failure; if
  /// `some` are wanted, a lack of room is no failure.
  base::Status run(Wanted wanted, EvictionScope room);
  /// In the order of want(). The caller resets a chunk that it takes over.
  std::vector<Item>& items() { return items_; }
  /// Tells each holder of blocks that did not match their hashes. It checks them, and records the damage. A block that
  /// cannot be reported will be noticed again.
  void tell_suspects(ExportCollection& collection);

 private:
  struct FaultySource {
    std::optional<redundancy::Block> bad;
    std::optional<unsigned> unreachable;
  };
  void work();
  void failed(const base::Error& why);
  base::Status recover(Item& item);
  base::Status try_once(Item& item, const ReconstructionTask& task);
  void leave_out(const ReconstructionTask& task, const FaultySource& found, const base::Error& why);
  base::Result<segment::ChunkEntry> make(const ReconstructionTask& task, const tier::SlotAddress& slot,
                                         FaultySource& culprit);
  base::Result<segment::ChunkEntry> make_at_server(const ReconstructionTask& task, const tier::SlotAddress& slot,
                                                   const EncodingTask::Source& parity);

  const RecoveryContext& context_;
  const std::atomic<bool>& stopping_;
  AskedNodes nodes_;
  const segment::VersionId& id_;
  std::vector<ExportedPieces> exported_;
  tier::SlotIo slots_;
  EvictionScope room_ = EvictionScope::stored;  // while run() runs
  std::mutex mutex_;                            // while run() runs; guards all that follows
  Reconstruction reconstruction_;
  std::vector<Item> items_;
  std::size_t next_ = 0;
  std::map<unsigned, std::vector<BlockPlace>> suspects_;  // by exporter: blocks that did not match their hashes
  base::Status outcome_;
};

}  // namespace perdure::engine
