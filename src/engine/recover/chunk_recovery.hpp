#pragma once
// Fetches and rebuilds chunks into slots of this node, verified, out of what engines export. What turns out to be
// damaged or out of reach on the way counts as lost, too. What becomes of the chunks is its user's to say.
// (docs/adr/0014)
#include <atomic>
#include <mutex>

#include "engine/ledger/ledger.hpp"
#include "engine/recover/export_collection.hpp"
#include "engine/recover/piece_network.hpp"
#include "engine/recover/reconstruction.hpp"
#include "engine/replicate/parity_store.hpp"

namespace perdure::engine {

/// What recoveries of a node work with.
struct RecoveryContext {
  Ledger& ledger;
  Reports& reports;
  std::shared_ptr<PieceNetwork> network;
  std::shared_ptr<ParityStore> parity;  ///< of the job, if it has any
  unsigned threads = 1;
};

/// The engines that one recovery asks, and the way to them.
struct AskedNodes {
  PieceLink& link;  ///< its positions are the nodes
  std::optional<unsigned> own;
};

class ChunkRecovery {
 public:
  struct Item {
    ChunkName name;
    std::optional<segment::ChunkEntry> made = {};  ///< in its slot; of the others nothing is there
    bool rebuilt = false;                          ///< not simply fetched from where it still is
  };
  enum class Wanted { all, some };  ///< some: where there is no room for all

  /// `exported`: by node, and parity servers behind them.
  ChunkRecovery(const RecoveryContext& context, const std::atomic<bool>& stopping, const AskedNodes& nodes,
                const segment::VersionId& id, std::vector<ExportedPieces> exported);
  /// Slots of what nobody took over go back.
  ~ChunkRecovery();
  ChunkRecovery(const ChunkRecovery&) = delete;
  ChunkRecovery& operator=(const ChunkRecovery&) = delete;

  /// PERDURE_NOT_FOUND when no exporter has anything of it.
  base::Result<segment::Piece> piece(std::uint32_t rank) const { return reconstruction_.piece(rank); }
  void want(ChunkName name) { items_.push_back({name}); }
  /// Makes what is wanted and not made yet. Room comes from what may go in this scope at most. Of a failure the first
  /// one is told; where `some` are wanted, having no room is none.
  base::Status run(Wanted wanted, EvictionScope room);
  /// In the order of want(). Who takes a chunk over resets it.
  std::vector<Item>& items() { return items_; }
  /// Who has a block that did not match its hash looks at it, and records it. What cannot be told is met again.
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
  std::mutex mutex_;                            // while run() runs, of all that follows
  Reconstruction reconstruction_;
  std::vector<Item> items_;
  std::size_t next_ = 0;
  std::map<unsigned, std::vector<BlockPlace>> suspects_;  // by exporter: blocks that did not match their hashes
  base::Status outcome_;
};

}  // namespace perdure::engine
