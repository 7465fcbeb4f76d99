#include "network/endpoint_core.hpp"

#include <chrono>

#include "os/system.hpp"

namespace perdure::network {
namespace {

constexpr std::uint64_t kRoomForErrors = 256 * base::KiB;  // what a reply may be longer than the value that it carries

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
      limits_(limits_of(options, wire_->max_message())),
      introductions_(*wire_, options_.job_key, self_, {options.retry_ns, options.max_retry_ns}) {}

base::Status EndpointCore::start() {
  pool_.start(options_.service_threads);
  clock_.start([this](std::uint64_t now) { return tick(now); });
  return wire_->start(*this);
}

EndpointCore::~EndpointCore() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  connections_changed_.notify_all();
  const base::Error closed{PERDURE_CLOSED, "network", "this engine's endpoint was closed", {}, false};
  for (const PeerPointer& peer : peers()) lose(peer, closed, false);
  {
    std::unique_lock lock(mutex_);
    visits_over_.wait(lock, [this] { return visits_ == 0; });
  }
  pool_.stop();
  clock_.stop();
  wire_->stop();
  free_buffers_.clear();
  transfers_.clear();  // wire buffers have to go before the wire
}

EndpointCore::Visit::Visit(EndpointCore& core) : core_(core) {
  const std::lock_guard lock(core_.mutex_);
  ++core_.visits_;
}

EndpointCore::Visit::~Visit() {
  const std::lock_guard lock(core_.mutex_);
  if (--core_.visits_ == 0) core_.visits_over_.notify_all();
}

std::vector<PeerPointer> EndpointCore::peers() const {
  const std::lock_guard lock(mutex_);
  std::vector<PeerPointer> list;
  for (const auto& [id, peer] : peers_) list.push_back(peer);
  return list;
}

base::Result<PeerPointer> EndpointCore::find(PeerId id) const {
  const std::lock_guard lock(mutex_);
  if (closing_) return base::fail(PERDURE_CLOSED, "network", "this engine's endpoint was closed");
  const auto it = peers_.find(id);
  if (it != peers_.end()) return it->second;
  return base::fail(PERDURE_PEER_FAILED, "peer " + std::to_string(id), "it is not connected, or not any more",
                    "connect again", true);
}

void EndpointCore::send(Peer& peer, const Body& body) {
  const Bytes bytes = encode({peer.session.says, body});
  peer.counters.messages_sent.fetch_add(1, std::memory_order_relaxed);
  peer.counters.bytes_sent.fetch_add(bytes.size(), std::memory_order_relaxed);
  // A message that the wire could not take is a lost one: it is repeated, or was a repetition.
  (void)wire_->send(peer.session.wire, bytes);
}

void EndpointCore::send_all(Peer& peer, const Outbox& out) {
  for (const Body& body : out) send(peer, body);
}

void EndpointCore::remember_stranger(const base::Error& who) {
  ++stranger_count_;
  const std::lock_guard lock(stranger_mutex_);
  strangers_.push_back(who);
  if (strangers_.size() > 16) strangers_.pop_front();
}

EndpointStatistics EndpointCore::statistics() const {
  EndpointStatistics all;
  all.clock_ticks = clock_.ticks();
  all.messages_received = received_;
  all.dropped = dropped_;
  all.strangers = stranger_count_;
  all.views = views_.size();
  {
    const std::lock_guard lock(mutex_);
    all.peers = peers_.size();
    all.half_open = introductions_.half_open();
  }
  {
    const std::lock_guard lock(transfer_mutex_);
    all.transfers = transfers_.size();
  }
  const std::lock_guard lock(stranger_mutex_);
  all.last_strangers.assign(strangers_.begin(), strangers_.end());
  return all;
}

}  // namespace perdure::network
