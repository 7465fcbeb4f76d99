#pragma once
// Asks the engines that a recovery needs for what they export, and parity servers for what they keep. (docs/adr/0020)
#include <atomic>
#include <functional>

#include "engine/recover/exported_pieces.hpp"
#include "engine/recover/piece_network.hpp"
#include "engine/replicate/parity_store.hpp"
#include "ipc/messages.hpp"

namespace perdure::engine {

struct CollectionLimits {
  std::uint64_t first_pause_ns = 500'000;       ///< before a node that is not ready is asked again
  std::uint64_t longest_pause_ns = 50'000'000;  ///< pauses double up to this
  std::uint64_t give_up_ns = 600'000'000'000;   ///< a node that answers, but never with what it exports
  std::uint64_t most_bytes = 256 * base::MiB;   ///< of what one node exports
  unsigned failures = 2;  ///< lost connections and time-outs; after more of them the node counts as lost
};

/// All of what one node exports. PERDURE_CLOSED when `stopping` came true, PERDURE_TIMEOUT when it takes too long,
/// PERDURE_CORRUPT when what it says cannot be.
base::Result<ExportedPieces> ask_for_pieces(PieceLink& link, unsigned position, ExportQuestion question,
                                            const std::atomic<bool>& stopping, const CollectionLimits& limits = {});

/// What the server keeps for the group that this set describes, as if it were the part of one more member; nothing when
/// it has none, or does not answer.
std::optional<ExportedPieces::Part> part_at_server(ParityStore& server, catalog::RedundancySet redundancy_set);
/// Of all groups that have such parts in `exported`: each as what an exporter without an address has.
std::vector<ExportedPieces> pieces_at_servers(ParityStore& server, const std::vector<ExportedPieces>& exported);

/// The questions of one recovery: asked of all nodes, and ended when this goes.
class ExportCollection {
 public:
  /// `link`: its positions are `nodes`.
  ExportCollection(PieceLink& link, const segment::VersionId& id, const std::vector<ipc::NodeToAsk>& nodes);
  ~ExportCollection();
  ExportCollection(const ExportCollection&) = delete;
  ExportCollection& operator=(const ExportCollection&) = delete;
  ExportQuestion question(unsigned position) const;
  /// These blocks of that node did not match their hashes; it hears it with the end.
  void suspect(unsigned position, std::vector<BlockPlace> blocks);
  /// By node, from so many at a time; nothing of this node (`own`), and of those that `failed` was called for.
  std::vector<ExportedPieces> collect(std::optional<unsigned> own, unsigned threads, const std::atomic<bool>& stopping,
                                      const std::function<void(unsigned position, const base::Error&)>& failed);

 private:
  PieceLink& link_;
  const segment::VersionId& id_;
  const std::vector<ipc::NodeToAsk>& nodes_;
  const std::uint64_t recovery_;
  std::optional<unsigned> own_;
  std::vector<unsigned> asked_;
  std::map<unsigned, std::vector<BlockPlace>> suspects_;  // by position
};

}  // namespace perdure::engine
