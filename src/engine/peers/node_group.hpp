#pragma once
// Connects this node with the others of its job: the network, the group, and the redundancy of versions there. All of
// it begins when the application says which nodes there are. Thread-safe.
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "engine/peers/endpoint_link.hpp"
#include "engine/peers/group_members.hpp"
#include "engine/peers/parity_servers.hpp"
#include "engine/peers/recoveries.hpp"
#include "engine/replicate/replicator.hpp"
#include "ipc/messages.hpp"
#include "network/visits.hpp"
#include "os/thread.hpp"

namespace perdure::engine {

struct NodeGroupOptions {
  std::string scheme = "single";
  unsigned parities = 1;  ///< as configured; the scheme interprets it
  network::FabricOptions fabric;
  network::EndpointOptions endpoint;
  ReplicatorOptions replicator;
  unsigned recovery_threads = 2;
  std::vector<std::string> parity_servers = {};  ///< redundancy.parity_servers
  std::string job = {};                          ///< names what this job keeps at parity servers
};

class NodeGroup {
 public:
  /// `changed` is called when the state of some version changed.
  NodeGroup(Ledger& ledger, Reports& reports, NodeGroupOptions options, std::function<void()> changed);
  ~NodeGroup() { stop(); }
  const base::Status& started() const { return replicator_->started(); }
  void stop();

  /// Opens the network and returns the address under which engines with the same key reach this one. Another key means
  /// another launch of the job, in which this node has no group yet.
  base::Result<network::Bytes> open_network(const std::vector<std::byte>& job_key);
  base::Status join(const ipc::Join& join);
  bool joined() const;
  /// An engine of the group is gone, so no version reaches level node now.
  std::optional<base::Error> missing_member();

  void capturing(const segment::VersionId& id) { replicator_->capturing(id); }
  void release_room() { replicator_->release_room(); }
  void reevaluate_captures() { replicator_->reevaluate_captures(); }
  void committed(const segment::VersionId& id);
  void stored(const segment::VersionId& id);
  void whole_at_store(const segment::VersionId& id) { replicator_->whole_at_store(id); }
  void gone(const segment::VersionId& id);
  void superseded(const std::string& name, std::uint64_t attempt_ns, const std::set<std::uint64_t>& keep);
  ipc::ReplicatingAgain replicate_again(const segment::VersionId& id);
  Replicator::State state(const segment::VersionId& id) const;
  bool under_way() const { return replicator_->under_way() > 0; }

  /// Returns what parity servers keep for versions of this name that this node has a part of; of all names if it is
  /// empty.
  std::vector<ipc::RedundancySummary> redundancy_at_servers(const std::string& name);
  /// The job has ended in order.
  void drop_stored(const std::vector<ipc::StoredName>& stored) { replicator_->drop_stored(stored); }
  /// Runs a recovery, at most one of a kind per client. It begins at the first call. nullopt while it runs; `changed`
  /// is called when it is over.
  /// This node's part of the version is pinned for the client from the beginning, until the client unpins it or is
  /// gone. It may be all that others can recover from.
  std::optional<base::Result<ipc::Recovered>> recover(ClientId client, const ipc::Recover& request);
  /// As above; besides, the client may have guests.
  std::optional<base::Result<ipc::RecoveredGuests>> recover(ClientId client, const ipc::RecoverGuests& request);
  /// As above, but pins nothing, since nobody is to read chunks. Without nodes to ask it needs no network.
  std::optional<base::Result<ipc::PieceDescriptions>> recover(ClientId client, const ipc::DescribePieces& request);
  /// Nobody waits for the client's recoveries any more. Does not wait for them.
  void client_gone(ClientId client) { recoveries_.client_gone(client); }

 private:
  base::Result<network::Bytes> serve(const PeerNetwork& network, network::PeerId from, base::ConstByteSpan request);
  base::Result<network::Bytes> answer(const PeerNetwork& network, network::PeerId from, base::ConstByteSpan request);
  void report_lost(const base::Error& error);
  void malformed(const PeerNetwork& network, network::PeerId from, const base::Error& error);
  base::Result<std::shared_ptr<PeerNetwork>> open_peer_network(const network::JobKey& key);
  base::Result<RecoveryContext> recovery_context();

  Ledger& ledger_;
  Reports& reports_;
  NodeGroupOptions options_;
  std::function<void()> changed_;
  /// Counts handlers of networks that run in this group. A network can outlive the group, if somebody keeps it.
  std::shared_ptr<network::Visits> inside_ = std::make_shared<network::Visits>();
  mutable std::mutex mutex_;
  bool joined_ = false;
  std::shared_ptr<PeerNetwork> network_;
  std::shared_ptr<ParityServers> parity_;
  std::unique_ptr<Replicator> replicator_;
  Recoveries recoveries_;
  GroupMembers members_;
  std::mutex malformed_mutex_;
  std::deque<network::PeerId> sent_malformed_;  ///< each peer once; the last few
};

}  // namespace perdure::engine
