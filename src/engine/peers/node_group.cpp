#include "engine/peers/node_group.hpp"

#include <algorithm>

#include "engine/ledger/redundancy_share.hpp"
#include "redundancy/registry.hpp"

namespace perdure::engine {
namespace {

constexpr std::size_t kMostNamed = 64;  // peers that sent malformed messages

}  // namespace

NodeGroup::NodeGroup(Ledger& ledger, Reports& reports, NodeGroupOptions options, std::function<void()> changed)
    : ledger_(ledger),
      reports_(reports),
      options_(std::move(options)),
      changed_(std::move(changed)),
      replicator_(std::make_unique<Replicator>(ledger, reports, options_.replicator, changed_)) {}

void NodeGroup::stop() {
  stop_recoveries();
  std::shared_ptr<PeerNetwork> network;
  {
    std::lock_guard guard(mutex_);
    network = std::move(network_);
    joined_ = false;
  }
  replicator_->leave();
  replicator_->stop();  // before the endpoint goes, whose handlers call it
}

void NodeGroup::stop_recoveries() {
  std::map<ClientId, std::unique_ptr<Recovery>> ending;
  {
    std::lock_guard guard(mutex_);
    ending.swap(recoveries_);
  }
  for (const auto& [client, recovery] : ending) recovery->recoverer->stop();
  for (const auto& [client, recovery] : ending) recovery->thread.join();
}

base::Result<network::Bytes> NodeGroup::serve(const PeerNetwork& network, network::PeerId from,
                                              base::ConstByteSpan request) {
  const base::Status heard = replicator_->receive(request);
  if (heard) return network::Bytes();
  if (heard.error().code == PERDURE_CORRUPT) malformed(network, from, heard.error());
  return base::fail(heard.error());
}

// Messages are checksummed: what cannot be read was sent like that. Its sender is told once; an engine that means well
// gives up then.
void NodeGroup::malformed(const PeerNetwork& network, network::PeerId from, const base::Error& error) {
  network::Endpoint* endpoint = network.served;
  const auto name = endpoint == nullptr ? base::Result<std::string>("a peer") : endpoint->name_of(from);
  if (!name) return;  // it is gone
  bool again = false;
  {
    std::lock_guard guard(malformed_mutex_);
    again = std::find(sent_malformed_.begin(), sent_malformed_.end(), from) != sent_malformed_.end();
    if (!again) sent_malformed_.push_back(from);
    if (sent_malformed_.size() > kMostNamed) sent_malformed_.pop_front();
  }
  reports_.add("network: " + *name + " sent what cannot be read: " + error.text() +
               (again ? "; it was disconnected" : "; it will be disconnected if it does so again"));
  if (again && endpoint != nullptr) endpoint->disconnect(from);
}

base::Result<network::Bytes> NodeGroup::open_network(const std::vector<std::byte>& job_key) {
  network::JobKey key{};
  if (job_key.size() != key.size())
    return base::fail(PERDURE_INVALID_ARGUMENT, "job key", "it does not have " + std::to_string(key.size()) + " bytes");
  std::copy(job_key.begin(), job_key.end(), key.begin());
  std::shared_ptr<PeerNetwork> old;  // ends without the lock
  std::lock_guard guard(mutex_);
  if (network_ && network_->key == key) return network_->endpoint->address();
  old = std::move(network_);
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
  handlers.serve = [this, open = network.get()](network::PeerId from, base::ConstByteSpan request) {
    return serve(*open, from, request);
  };
  handlers.on_lost = [this](network::PeerId, const base::Error& error) { lost(error); };
  network->key = key;
  PERDURE_TRY(network->endpoint, network::Endpoint::open(std::move(wire), endpoint_options, std::move(handlers)));
  network->served = network->endpoint.get();
  network->slots = std::make_unique<SlotExposure>(*network->endpoint);
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
  name_members(join);
  joined_ = true;
  positions->introduce(join.position + 1);  // one connection to each; those before this one connect to it
  return {};
}

void NodeGroup::name_members(const ipc::Join& join) {
  std::lock_guard guard(names_mutex_);
  node_of_peer_.clear();
  for (std::size_t i = 0; i < join.nodes.size() && i < join.addresses.size(); ++i)
    if (const auto address = network::decode_address(join.addresses[i])) node_of_peer_[address->text()] = join.nodes[i];
}

// Ends of programs and losses of nodes look alike from here: whoever reads this knows which of them it was.
void NodeGroup::lost(const base::Error& error) {
  std::string who = error.object;
  bool member = false;
  {
    std::lock_guard guard(names_mutex_);
    const auto node = node_of_peer_.find(error.object);
    member = node != node_of_peer_.end();
    if (member) who = "node " + node->second + " (" + error.object + ")";
  }
  std::string text = "network: " + who + " was lost: " + error.cause + " (" + base::code_name(error.code) + ")";
  text += member
              ? "; this is normal when its program was ended or is launched again, and what is stored is not touched. "
                "Until it is back, new checkpoints do not reach level node; that comes by itself. If nobody ended "
                "it, see whether that node works"
              : "; it is none of this node's group: an engine of an earlier launch, or a parity server. If that was "
                "to go on, see whether it runs";
  reports_.add(text);
}

bool NodeGroup::joined() const {
  std::lock_guard guard(mutex_);
  return joined_;
}

void NodeGroup::committed(const segment::VersionId& id) { replicator_->committed(id); }

void NodeGroup::stored(const segment::VersionId& id) { replicator_->stored(id); }

void NodeGroup::gone(const segment::VersionId& id) { replicator_->gone(id); }

void NodeGroup::superseded(const std::string& name, std::uint64_t attempt_ns) {
  {
    const auto ledger = ledger_.lock();
    ledger->redundancy.node_level_everywhere(name, {attempt_ns, 0});
  }
  replicator_->superseded(name, attempt_ns);
}

Replicator::State NodeGroup::state(const segment::VersionId& id) const { return replicator_->state(id); }

NodeGroup::Pinned NodeGroup::pin(ClientId client, const segment::VersionId& id) {
  Pinned pinned;
  const auto ledger = ledger_.lock();
  pinned.held = ledger->held.export_pieces(client, id);
  for (const auto& redundancy_set : pinned.held.redundancy_sets)
    for (auto& slots = pinned.kept.emplace_back(); const auto& [name, chunk] : redundancy_set.kept)
      slots[name] = ledger->address(chunk);
  return pinned;
}

base::Result<std::vector<std::byte>> NodeGroup::export_pieces(Pinned pinned) {
  std::shared_ptr<PeerNetwork> network;
  {
    std::lock_guard guard(mutex_);
    network = network_;
  }
  if (!network) return base::fail(PERDURE_INVALID_ARGUMENT, "group", "the network is not open");
  ExportedPieces loan;
  loan.address = network->endpoint->address();
  const auto place = [&](const tier::SlotAddress& slot) -> std::optional<BlockPlace> {
    auto made = network->slots->place(slot);
    return made ? std::optional(std::move(*made)) : std::nullopt;
  };
  for (auto& piece : pinned.held.pieces) {
    ExportedPieces::Piece& part = loan.pieces.emplace_back(ExportedPieces::Piece{std::move(piece.piece), {}});
    for (const auto& slot : piece.slots) part.places.push_back(slot ? place(*slot) : std::nullopt);
  }
  for (std::size_t i = 0; i < pinned.kept.size(); ++i) {
    ExportedPieces::Part part{std::move(pinned.held.redundancy_sets[i]), {}};
    for (const auto& [name, slot] : pinned.kept[i])
      if (auto made = place(slot)) part.places[name] = std::move(*made);
    loan.parts.push_back(std::move(part));
  }
  return encode(loan);
}

// By group: what a server has of it, as if it were a member's part. Asked without locks, as a server may be slow.
std::vector<ExportedPieces::Part> NodeGroup::parts_at_servers(
    const std::function<bool(const segment::VersionId&)>& which) {
  std::shared_ptr<ParityServers> parity;
  {
    std::lock_guard guard(mutex_);
    parity = parity_;
  }
  std::vector<ExportedPieces::Part> parts;
  if (parity == nullptr) return parts;
  {
    const auto ledger = ledger_.lock();
    for (const auto& redundancy_set : ledger->redundancy.all())
      if (redundancy::keeps_at_server(redundancy_set.scheme) && which(redundancy_set.id.version))
        parts.push_back({redundancy_set, {}});
  }
  for (auto& part : parts) {
    part.redundancy_set.position = static_cast<std::uint32_t>(part.redundancy_set.members.size());
    part.redundancy_set.kept.clear();
    const auto found = parity->find({part.redundancy_set.id, part.redundancy_set.group});
    for (std::uint64_t stripe = 0; found && stripe < found->size(); ++stripe) {
      part.redundancy_set.kept[{stripe, 0}] = {stripe, (*found)[stripe].bytes, (*found)[stripe].hash, 0};
      part.places[{stripe, 0}] = {{}, stripe};
    }
  }
  std::erase_if(parts, [](const auto& part) { return part.places.empty(); });
  return parts;
}

std::vector<std::vector<std::byte>> NodeGroup::export_pieces_of_servers(const segment::VersionId& id) {
  std::vector<std::vector<std::byte>> loans;
  for (auto& part : parts_at_servers([&](const segment::VersionId& version) { return version == id; }))
    loans.push_back(encode(ExportedPieces{{}, {}, {std::move(part)}}));
  return loans;
}

std::vector<ipc::RedundancySummary> NodeGroup::redundancy_at_servers(const std::string& name) {
  std::vector<ipc::RedundancySummary> kept;
  for (const auto& part :
       parts_at_servers([&](const segment::VersionId& id) { return name.empty() || id.name == name; }))
    kept.push_back(summary_of(part.redundancy_set));
  return kept;
}

std::optional<base::Result<std::vector<ipc::RankRecovery>>> NodeGroup::recover(ClientId client,
                                                                               const ipc::Recover& request) {
  using Outcome = base::Result<std::vector<ipc::RankRecovery>>;
  std::unique_lock guard(mutex_);
  const auto known = recoveries_.find(client);
  if (known == recoveries_.end()) {
    if (!network_) return Outcome(base::fail(PERDURE_INVALID_ARGUMENT, "group", "the network is not open"));
    auto recovery = std::make_unique<Recovery>();
    recovery->recoverer = std::make_unique<Recoverer>(ledger_, reports_, std::make_shared<EndpointNetwork>(network_),
                                                      parity_, std::max(options_.recovery_threads, 1U));
    Recovery* r = recovery.get();
    recovery->thread = std::thread([this, r, request] {
      auto result = r->recoverer->recover(request);
      {
        std::lock_guard inner(mutex_);
        r->result = std::move(result);
      }
      changed_();
    });
    recoveries_.emplace(client, std::move(recovery));
    return std::nullopt;
  }
  if (!known->second->result) return std::nullopt;
  auto over = std::move(known->second);
  recoveries_.erase(known);
  guard.unlock();
  over->thread.join();
  return std::move(*over->result);
}

}  // namespace perdure::engine
