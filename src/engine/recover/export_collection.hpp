#pragma once
// Asks the engines that a recovery needs for their exports, and parity servers for their parities (docs/adr/0020).
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
  std::uint64_t give_up_ns = 600'000'000'000;   ///< limit for a node that answers, but never with its export
  std::uint64_t most_bytes = 256 * base::MiB;   ///< limit for one node's export
  unsigned failures = 2;  ///< lost connections and time-outs; after more of them the node counts as lost
};

/// Returns all of one node's export. Fails with PERDURE_CLOSED if `stopping` became true, PERDURE_TIMEOUT if it takes
/// too long, and PERDURE_CORRUPT if the answer is impossible.
base::Result<ExportedPieces> ask_for_pieces(PieceLink& link, unsigned position, ExportQuestion question,
                                            const std::atomic<bool>& stopping, const CollectionLimits& limits = {});

/// Returns the parities that the server keeps for this set's group, as the part of one more member. It is nullopt if
/// the server has none, or does not answer.
std::optional<ExportedPieces::Part> part_at_server(ParityStore& server, catalog::RedundancySet redundancy_set);
/// Returns the parities at the server for all groups in `exported` that have some. Each is the export of an exporter
/// without an address.
std::vector<ExportedPieces> pieces_at_servers(ParityStore& server, const std::vector<ExportedPieces>& exported);

/// The questions of one recovery: asked of all nodes, and ended by the destructor.
class ExportCollection {
 public:
  /// `nodes` has the node of each position of `link`.
  ExportCollection(PieceLink& link, const segment::VersionId& id, const std::vector<ipc::NodeToAsk>& nodes);
  ~ExportCollection();
  ExportCollection(const ExportCollection&) = delete;
  ExportCollection& operator=(const ExportCollection&) = delete;
  ExportQuestion question(unsigned position) const;
  /// Notes blocks of that node that did not match their hashes. ExportEnd tells the node of them.
  void suspect(unsigned position, std::vector<BlockPlace> blocks);
  /// Returns the exports by node, asking up to `threads` nodes at a time. This node's (`own`) is empty, and so is that
  /// of a node for which `failed` was called.
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
