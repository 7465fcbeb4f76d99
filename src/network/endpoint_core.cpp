#include "network/endpoint_core.hpp"

#include <chrono>

#include "os/system.hpp"

namespace perdure::network {
namespace {

constexpr std::uint64_t kRoomForErrors = 256 * base::KiB;  // how much longer a reply may be than its value

CallLimits limits_of(const EndpointOptions& options, std::size_t max_message) {
  CallLimits limits;
  limits.calls = options.window_calls;
  limits.bytes = options.window_bytes;
  limits.fragment_bytes = static_cast<std::uint32_t>(max_message - kFragmentOverhead);
  limits.max_message_bytes = options.max_message_bytes + kRoomForErrors;
  limits.retry_ns = options.retry_ns;
  limits.max_retry_ns = options.max_retry_ns;
  return limits;
}

}  // namespace

EndpointCore::EndpointCore(std::unique_ptr<Wire> wire, const EndpointOptions& options, Handlers handlers)
    : wire_(std::move(wire)),
      options_(options),
      handlers_(std::move(handlers)),
      self_{wire_->address(), os::random_u64() | 1},
      transfers_(2 * options.window_transfers),
      handshakes_(*wire_, options_.job_key, self_, {options.retry_ns, options.max_retry_ns}),
      peers_(limits_of(options, wire_->max_message())) {}

base::Status EndpointCore::start() {
  PERDURE_CHECK(pool_.start(options_.service_threads));
  PERDURE_CHECK(clock_.start([this](std::uint64_t now) { return tick(now); }));
  return wire_->start(*this);
}

EndpointCore::~EndpointCore() {
  {
    const std::lock_guard lock(mutex_);  // a thread that waits for a connection has either seen it or waits already
    visits_.close();
  }
  connections_changed_.notify_all();
  base::Error closed{PERDURE_CLOSED, "network", {}, {}, false};
  base::attempt([&closed] { closed.cause = "this engine's endpoint was closed"; });
  while (const PeerPointer peer = first_peer()) lose(peer, closed, false);
  visits_.wait_until_none();
  pool_.stop();
  clock_.stop();
  wire_->stop();
  transfers_.clear();
}

PeerPointer EndpointCore::first_peer() const {
  const std::lock_guard lock(mutex_);
  return peers_.first();
}

std::vector<PeerPointer> EndpointCore::peers() const {
  const std::lock_guard lock(mutex_);
  return peers_.all();
}

base::Result<PeerPointer> EndpointCore::find(PeerId id) const {
  const std::lock_guard lock(mutex_);
  if (visits_.closing()) return base::fail(PERDURE_CLOSED, "network", "this engine's endpoint was closed");
  if (auto peer = peers_.find(id)) return peer;
  return base::fail(PERDURE_PEER_FAILED, "peer " + std::to_string(id), "it is not connected, or not any more",
                    "connect again", true);
}

void EndpointCore::send(Peer& peer, const Body& body) {
  const Bytes bytes = encode({peer.session.says, body});
  peer.counters.messages_sent.fetch_add(1, std::memory_order_relaxed);
  peer.counters.bytes_sent.fetch_add(bytes.size(), std::memory_order_relaxed);
  // A message that the wire could not take is lost: it is repeated, or was a repetition.
  (void)wire_->send(peer.session.wire, bytes);
}

void EndpointCore::send_all(Peer& peer, const Outbox& out) {
  for (const Body& body : out) send(peer, body);
}

EndpointStatistics EndpointCore::statistics() const {
  EndpointStatistics all;
  all.clock_ticks = clock_.ticks();
  all.messages_received = received_.messages;
  all.dropped = received_.dropped;
  all.unauthenticated = received_.unauthenticated();
  all.views = views_.size();
  all.transfers = transfers_.size();
  all.last_unauthenticated = received_.last_unauthenticated();
  const std::lock_guard lock(mutex_);
  all.peers = peers_.size();
  all.half_open = handshakes_.half_open();
  return all;
}

}  // namespace perdure::network
