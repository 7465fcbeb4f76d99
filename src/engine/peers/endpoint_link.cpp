#include "engine/peers/endpoint_link.hpp"

#include <algorithm>

#include "engine/peers/peer_request.hpp"

namespace perdure::engine {
namespace {

constexpr std::uint64_t kSliceNs = 500'000'000;
// for messages that the endpoint still sends when nobody waits for them any more
constexpr std::uint64_t kMomentNs = 1'000'000'000;

}  // namespace

EndpointLink::EndpointLink(std::shared_ptr<PeerNetwork> network, std::vector<network::Bytes> addresses,
                           EndpointLinkOptions options)
    : network_(std::move(network)), addresses_(std::move(addresses)), options_(options) {}

// Invalid addresses and unreachable peers are found out when they are needed.
void EndpointLink::introduce(unsigned first) const {
  for (std::size_t position = first; position < addresses_.size(); ++position)
    if (!addresses_[position].empty()) (void)network_->endpoint->introduce(addresses_[position], options_.timeout_ns);
}

void EndpointLink::close() noexcept {
  closed_ = true;
  std::lock_guard guard(mutex_);
  for (const auto peer : known_) network_->endpoint->disconnect(peer);
}

// It asks the endpoint every time: the endpoint knows which peers are connected, and reconnects to lost ones.
base::Result<network::PeerId> EndpointLink::peer(unsigned position) {
  const auto closed = base::fail(PERDURE_CLOSED, "position " + std::to_string(position), "this node left the group");
  if (position >= addresses_.size())
    return base::fail(PERDURE_INVALID_ARGUMENT, "position " + std::to_string(position), "it is not in the group");
  // It waits in slices, since leaving the group must not wait for a peer that ended before.
  base::Result<network::PeerId> peer = closed;
  for (std::uint64_t waited_ns = 0; !peer && waited_ns < options_.timeout_ns; waited_ns += kSliceNs) {
    if (closed_) return closed;
    peer = network_->endpoint->connect(addresses_[position], std::min(kSliceNs, options_.timeout_ns - waited_ns));
    if (!peer && peer.error().code != PERDURE_TIMEOUT) break;
  }
  if (!peer) return peer;
  std::lock_guard guard(mutex_);
  if (closed_) return closed;
  known_.insert(*peer);
  return peer;
}

base::Status EndpointLink::send(unsigned position, base::ConstByteSpan message) {
  PERDURE_TRY(const auto to, peer(position));
  PERDURE_TRY([[maybe_unused]] const auto answer,
              network_->endpoint->call(to, encode(PeerRequest(ToReplicator{message})), options_.timeout_ns));
  return {};
}

bool EndpointLink::begin_send(unsigned position, base::ConstByteSpan message, std::function<void(base::Status)> told) {
  if (closed_ || position >= addresses_.size()) return false;
  const auto to = network_->endpoint->peer_at(addresses_[position]);
  if (!to) return false;
  {
    std::lock_guard guard(mutex_);
    if (closed_) return false;
    known_.insert(*to);
  }
  const auto then = [told = std::move(told)](base::Result<network::Bytes> answer) {  // allocates no memory
    told(answer ? base::Status() : base::Status(base::fail(std::move(answer).error())));
  };
  return network_->endpoint->begin_call(*to, encode(PeerRequest(ToReplicator{message})), options_.timeout_ns, then)
      .has_value();
}

base::Result<ExportAnswer> EndpointLink::ask(unsigned position, const ExportQuestion& question) {
  PERDURE_TRY(const auto to, peer(position));
  PERDURE_TRY(const auto answer, network_->endpoint->call(to, encode(PeerRequest(question)), options_.timeout_ns));
  return decode_export_answer(answer);
}

// A peer that is not connected any more has ended its exports to this node.
void EndpointLink::tell(unsigned position, const ExportEnd& end) {
  const auto to = network_->endpoint->connect(addresses_[position], 0);
  if (to) (void)network_->endpoint->call(*to, encode(PeerRequest(end)), std::min(kMomentNs, options_.timeout_ns));
}

std::optional<BlockView> EndpointLink::view(unsigned position, const BlockPlace& place, std::uint64_t bytes) {
  if (options_.over_wire) return std::nullopt;
  const auto from = peer(position);
  const auto memory = network::decode_remote_memory(place.memory);
  if (!from || !memory) return std::nullopt;
  auto seen = network_->endpoint->view(*from, *memory);
  if (!seen || place.offset > seen->bytes().size() || bytes > seen->bytes().size() - place.offset) return std::nullopt;
  const auto kept = std::make_shared<const network::View>(std::move(*seen));
  return BlockView{kept->bytes().subspan(place.offset, bytes), kept};
}

base::Status EndpointLink::read(unsigned position, const BlockPlace& place, std::uint64_t offset,
                                base::ByteSpan target) {
  PERDURE_TRY(const auto from, peer(position));
  PERDURE_TRY(auto memory, network::decode_remote_memory(place.memory));
  if (options_.over_wire) memory.file.reset();
  return network_->endpoint->read(from, memory, place.offset + offset, target, options_.timeout_ns);
}

std::unique_ptr<PieceLink> EndpointNetwork::connect(std::vector<Address> nodes) {
  auto link = std::make_unique<EndpointLink>(network_, std::move(nodes));
  link->introduce();
  return link;
}

}  // namespace perdure::engine
