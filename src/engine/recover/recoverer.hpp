#pragma once
// Recoveries of a node, each over a link of its own to the engines that it asks: of whole pieces, which are staged
// here, of single chunks, which become guests, and of what pieces consist of. (docs/adr/0014, 0036)
#include "engine/recover/chunk_recovery.hpp"

namespace perdure::engine {

class Recoverer {
 public:
  explicit Recoverer(RecoveryContext context) : context_(std::move(context)) {}
  /// Asks the nodes that the request names. Recovers all wanted ranks or none: after a failure nothing stays in slots.
  /// What this node has of the version has to be pinned by whoever asks for it.
  base::Result<ipc::Recovered> answer(ClientId client, const ipc::Recover& request);
  /// The same for guests of a client that was admitted (Guests), but for those for which there is no room.
  base::Result<ipc::RecoveredGuests> answer(ClientId client, const ipc::RecoverGuests& request);
  /// Out of what this node has, too, whether the request names it or not.
  base::Result<ipc::PieceDescriptions> answer(ClientId client, const ipc::DescribePieces& request);
  /// It ends soon; what it waits for may take its time.
  void stop() { stopping_ = true; }
  /// It ends at once, whomever it waits for.
  void break_off();

 private:
  template <class Request, class Work>
  base::Result<typename Request::Reply> asking(const Request& request, const Work& work);
  void use(PieceLink* link);
  bool held_here(const segment::VersionId& id, std::uint32_t rank);
  template <class Request>
  std::vector<ExportedPieces> gather(const Request& request, const AskedNodes& nodes, ExportCollection& collection);
  std::vector<ExportedPieces> with_servers(std::vector<ExportedPieces> exported);
  base::Status stage(const ipc::Recover& request, const std::vector<segment::Piece>& pieces, ChunkRecovery& recovery);
  std::set<ChunkName> filled_of(ClientId client, const ipc::RecoverGuests& request);
  base::Result<ipc::RecoveredGuests> host(ClientId client, const ipc::RecoverGuests& request, ChunkRecovery& recovery);

  RecoveryContext context_;
  std::atomic<bool> stopping_ = false;
  std::mutex link_mutex_;
  PieceLink* link_ = nullptr;  ///< that is used now; guarded
};

}  // namespace perdure::engine
