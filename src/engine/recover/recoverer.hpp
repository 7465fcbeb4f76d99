#pragma once
// Runs a node's recoveries, each over its own link to the engines that it asks. It recovers whole pieces, which are
// staged here; single chunks, which become guests; and descriptions of pieces (docs/adr/0014, 0036).
#include "engine/recover/chunk_recovery.hpp"

namespace perdure::engine {

class Recoverer {
 public:
  explicit Recoverer(RecoveryContext context) : context_(std::move(context)) {}
  /// Asks the nodes that the request names. Recovers all wanted ranks or none: after a failure no slot stays taken. The
  /// caller has to pin this node's parts of the version.
  base::Result<ipc::Recovered> answer(ClientId client, const ipc::Recover& request);
  /// Recovers guests of a client that was admitted (Guests), except those for which there is no room.
  base::Result<ipc::RecoveredGuests> answer(ClientId client, const ipc::RecoverGuests& request);
  /// Also uses this node's parts, whether the request names it or not.
  base::Result<ipc::PieceDescriptions> answer(ClientId client, const ipc::DescribePieces& request);
  /// Ends soon, but not before the calls that it waits for.
  void stop() { stopping_ = true; }
  /// Ends at once, whatever it waits for.
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
  PieceLink* link_ = nullptr;  ///< in use now; guarded
};

}  // namespace perdure::engine
