#include "engine/peers/node_group.hpp"

#include <algorithm>

#include "engine/ledger/redundancy_share.hpp"
#include "engine/peers/peer_request.hpp"
#include "os/system.hpp"
#include "redundancy/registry.hpp"

namespace perdure::engine {
namespace {

constexpr std::size_t kMostNamed = 64;  // number of peers remembered that sent malformed messages

}  // namespace

NodeGroup::NodeGroup(Ledger& ledger, Reports& reports, NodeGroupOptions options, std::function<void()> changed)
    : ledger_(ledger),
      reports_(reports),
      options_(std::move(options)),
      changed_(std::move(changed)),
      replicator_(std::make_unique<Replicator>(ledger, reports, options_.replicator, changed_)),
      recoveries_(changed_) {}

// Each part is stopped whatever errors the others meet. A part that was left would go on beside an engine that is gone.
void NodeGroup::stop() {
  base::attempt([this] { recoveries_.stop(); });
  std::shared_ptr<PeerNetwork> network;
  {
    std::lock_guard guard(mutex_);
    network = std::move(network_);
    joined_ = false;
  }
  base::attempt([&] {
    if (network) network->exporter->stop();  // others may keep the network for a while
  });
  base::attempt([this] { replicator_->leave(); });
  base::attempt([this] { replicator_->stop(); });
  inside_->close();  // threads that are ending may keep the network for a while, and its handlers run
  inside_->wait_until_none();
}

base::Result<network::Bytes> NodeGroup::serve(const PeerNetwork& network, network::PeerId from,
                                              base::ConstByteSpan request) {
  auto answered = answer(network, from, request);
  if (!answered && answered.error().code == PERDURE_CORRUPT) malformed(network, from, answered.error());
  return answered;
}

base::Result<network::Bytes> NodeGroup::answer(const PeerNetwork& network, network::PeerId from,
                                               base::ConstByteSpan request) {
  PERDURE_TRY(const auto message, decode_peer_request(request));
  if (const auto* of_group = std::get_if<ToReplicator>(&message)) {
    PERDURE_CHECK(replicator_->receive(of_group->message));
    return network::Bytes();
  }
  if (network.served == nullptr) return base::fail(PERDURE_BUSY, "a peer", "the network is being opened", {}, true);
  if (const auto* ended = std::get_if<ExportEnd>(&message)) {
    network.exporter->end(from, ended->recovery, ended->suspects);
    return network::Bytes();
  }
  PERDURE_TRY(const auto exported, network.exporter->answer(from, std::get<ExportQuestion>(message)));
  return encode(exported);
}

// Messages are checksummed, so an unreadable one was sent like that. Its sender is told once, and a well-meaning engine
// gives up then.
void NodeGroup::malformed(const PeerNetwork& network, network::PeerId from, const base::Error& error) {
  network::Endpoint* endpoint = network.served;
  const auto name = endpoint == nullptr ? base::Result<std::string>("a peer") : endpoint->name_of(from);
  if (!name) return;  // the peer is gone
  bool again = false;
  {
    std::lock_guard guard(malformed_mutex_);
    again = std::find(sent_malformed_.begin(), sent_malformed_.end(), from) != sent_malformed_.end();
    if (!again) sent_malformed_.push_back(from);
    if (sent_malformed_.size() > kMostNamed) sent_malformed_.pop_front();
  }
  reports_.add("network: " + *name + " sent what cannot be read: " + error.text() +
               (again ? "; it was disconnected" : "; it will be disconnected if it does so again"));
  if (!again || endpoint == nullptr) return;
  endpoint->disconnect(from);
  network.exporter->lost(from);
}

base::Result<network::Bytes> NodeGroup::open_network(const std::vector<std::byte>& job_key) {
  network::JobKey key{};
  if (job_key.size() != key.size())
    return base::fail(PERDURE_INVALID_ARGUMENT, "job key", "it does not have " + std::to_string(key.size()) + " bytes");
  std::copy(job_key.begin(), job_key.end(), key.begin());
  std::shared_ptr<PeerNetwork> old;  // destroyed without the lock
  std::lock_guard guard(mutex_);
  if (network_ && network_->key == key) return network_->endpoint->address();
  old = std::move(network_);
  if (old) old->exporter->close();  // a recovery may keep the rest of it for a while
  joined_ = false;
  replicator_->leave();
  parity_.reset();
  PERDURE_TRY(auto opened, open_peer_network(key));
  if (!options_.parity_servers.empty() && redundancy::keeps_at_server(options_.scheme)) {
    PERDURE_TRY(parity_, ParityServers::open(opened, options_.parity_servers, options_.job));
  }
  network_ = std::move(opened);
  return network_->endpoint->address();
}

base::Result<std::shared_ptr<PeerNetwork>> NodeGroup::open_peer_network(const network::JobKey& key) {
  PERDURE_TRY(auto wire, network::make_fabric_wire(options_.fabric));
  auto endpoint_options = options_.endpoint;
  endpoint_options.job_key = key;
  auto network = std::make_shared<PeerNetwork>();
  network::Handlers handlers;
  handlers.serve = [this, inside = inside_, open = network.get()](
                       network::PeerId from, base::ConstByteSpan request) -> base::Result<network::Bytes> {
    const network::Visits::Visit visit(*inside);
    if (inside->closing()) return base::fail(PERDURE_CLOSED, "a peer", "this node's engine ends");
    return serve(*open, from, request);
  };
  handlers.is_brief = is_brief;
  handlers.on_lost = [this, inside = inside_, open = network.get()](network::PeerId peer, const base::Error& error) {
    const network::Visits::Visit visit(*inside);
    if (inside->closing()) return;
    if (open->served != nullptr) open->exporter->lost(peer);
    report_lost(error);
  };
  network->key = key;
  PERDURE_TRY(network->endpoint, network::Endpoint::open(std::move(wire), endpoint_options, std::move(handlers)));
  network->slots = std::make_unique<SlotExposure>(*network->endpoint);
  ExporterContext context{
      network->endpoint->address(),
      [slots = network->slots.get()](const tier::SlotAddress& slot) { return slots->place(slot); },
      [endpoint = network->endpoint.get()](network::PeerId peer) { return endpoint->name_of(peer).has_value(); },
      changed_};
  network->exporter = std::make_unique<PieceExporter>(ledger_, std::move(context));
  network->served = network->endpoint.get();  // last: from now on its handlers find all of it
  return network;
}

base::Status NodeGroup::join(const ipc::Join& join) {
  std::lock_guard guard(mutex_);
  if (!network_) return base::fail(PERDURE_INVALID_ARGUMENT, "group", "the network is not open");
  PERDURE_TRY(const auto* scheme, redundancy::find_scheme(options_.scheme));
  const auto members = static_cast<unsigned>(join.addresses.size());
  const GroupScheme group{scheme, members, redundancy::parities(*scheme, options_.parities), join.group};
  EndpointLinkOptions link;
  link.over_wire = scheme->rereads;
  const auto positions = std::make_shared<EndpointLink>(network_, join.addresses, link);
  PERDURE_CHECK(replicator_->join({join.epoch,
                                   group,
                                   join.position,
                                   positions,
                                   join.addresses,
                                   scheme->at_server ? parity_ : nullptr,
                                   {join.ranks.begin(), join.ranks.end()}}));
  {
    const auto ledger = ledger_.lock();
    ledger->redundancy.in_epoch(join.epoch);
  }
  members_.join(join, os::monotonic_ns());
  network_->exporter->end_all();  // recoveries belong to the launch before
  joined_ = true;
  positions->introduce(join.position + 1);  // one connection per pair: positions before this one connect to it
  return {};
}

// An ended program and a lost node look alike from here. The reader of the report knows which it was.
void NodeGroup::report_lost(const base::Error& error) {
  const auto member = members_.node_of(error.object);
  const std::string who = member ? "node " + *member + " (" + error.object + ")" : error.object;
  members_.lost(error.object, error);
  changed_();  // somebody may wait for a level that needs this member
  std::string text = "network: " + who + " was lost: " + error.cause + " (" + base::code_name(error.code) + ")";
  text += member
              ? "; this is normal when its program was ended or is launched again, and what is stored is not touched. "
                "Until it is back, new checkpoints do not reach level node; that comes by itself. If nobody ended "
                "it, see whether that node works"
              : "; it is none of this node's group: an engine of an earlier launch or one that took part in a "
                "recovery, or a parity "
                "server. If that was "
                "to go on, see whether it runs";
  reports_.add(text);
}

bool NodeGroup::joined() const {
  std::lock_guard guard(mutex_);
  return joined_;
}

std::optional<base::Error> NodeGroup::missing_member() {
  std::shared_ptr<PeerNetwork> network;
  {
    std::lock_guard guard(mutex_);
    if (!joined_) return std::nullopt;
    network = network_;
  }
  return members_.missing([&](base::ConstByteSpan address) { return network->endpoint->is_connected(address); },
                          os::monotonic_ns());
}

void NodeGroup::committed(const segment::VersionId& id) { replicator_->committed(id); }

void NodeGroup::stored(const segment::VersionId& id) { replicator_->stored(id); }

void NodeGroup::gone(const segment::VersionId& id) { replicator_->gone(id); }

void NodeGroup::superseded(const std::string& name, std::uint64_t attempt_ns, const std::set<std::uint64_t>& keep) {
  {
    const auto ledger = ledger_.lock();
    if (attempt_ns != 0) ledger->redundancy.node_level_everywhere(name, attempt_ns, keep);
  }
  replicator_->superseded(name, attempt_ns, keep);
}

ipc::ReplicatingAgain NodeGroup::replicate_again(const segment::VersionId& id) { return replicator_->again(id); }

Replicator::State NodeGroup::state(const segment::VersionId& id) const { return replicator_->state(id); }

// It is called without locks, since a server may be slow.
std::vector<ipc::RedundancySummary> NodeGroup::redundancy_at_servers(const std::string& name) {
  std::shared_ptr<ParityServers> parity;
  {
    std::lock_guard guard(mutex_);
    parity = parity_;
  }
  if (parity == nullptr) return {};
  std::vector<catalog::RedundancySet> sets;
  {
    const auto ledger = ledger_.lock();
    for (const auto& [id, redundancy_set] : ledger->redundancy.all())
      if ((name.empty() || id.version.name == name) && redundancy::keeps_at_server(redundancy_set.scheme))
        sets.push_back(redundancy_set);
  }
  std::vector<ipc::RedundancySummary> kept;
  for (auto& redundancy_set : sets) {
    if (const auto part = part_at_server(*parity, std::move(redundancy_set)))
      kept.push_back(summary_of(part->redundancy_set));
  }
  return kept;
}

base::Result<RecoveryContext> NodeGroup::recovery_context() {
  std::lock_guard guard(mutex_);
  if (!network_) return base::fail(PERDURE_INVALID_ARGUMENT, "group", "the network is not open");
  return RecoveryContext{ledger_, reports_, std::make_shared<EndpointNetwork>(network_), parity_,
                         std::max(options_.recovery_threads, 1U)};
}

std::optional<base::Result<ipc::Recovered>> NodeGroup::recover(ClientId client, const ipc::Recover& request) {
  const auto begin = [&]() -> base::Result<RecoveryContext> {
    PERDURE_TRY(auto context, recovery_context());
    const auto ledger = ledger_.lock();
    ledger->held.pin(client, request.id);
    return context;
  };
  return recoveries_.answer(client, request, begin, [&] {
    const auto ledger = ledger_.lock();
    ledger->held.unpin(client, request.id);
  });
}

// The client is admitted on the thread that handles departed clients. So a recovery for a client that is gone can add
// no guests.
std::optional<base::Result<ipc::RecoveredGuests>> NodeGroup::recover(ClientId client,
                                                                     const ipc::RecoverGuests& request) {
  const auto begin = [&]() -> base::Result<RecoveryContext> {
    PERDURE_TRY(auto context, recovery_context());
    const auto ledger = ledger_.lock();
    ledger->held.pin(client, request.id);
    ledger->guests.admit(client);
    return context;
  };
  return recoveries_.answer(client, request, begin, [] {});
}

std::optional<base::Result<ipc::PieceDescriptions>> NodeGroup::recover(ClientId client,
                                                                       const ipc::DescribePieces& request) {
  const auto begin = [&]() -> base::Result<RecoveryContext> {
    if (!request.nodes.empty()) return recovery_context();
    return RecoveryContext{ledger_, reports_, nullptr, nullptr, 1};
  };
  return recoveries_.answer(client, request, begin, [] {});
}

}  // namespace perdure::engine
