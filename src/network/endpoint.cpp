#include "network/endpoint.hpp"

#include "network/endpoint_core.hpp"

namespace perdure::network {
namespace {

base::Status check_options(const EndpointOptions& options, const Wire& wire) {
  const auto refuse = [](const char* why) { return base::fail(PERDURE_INVALID_ARGUMENT, "network options", why); };
  if (options.window_calls == 0 || options.window_calls > 4096) return refuse("window_calls is not in 1..4096");
  if (options.window_transfers == 0 || options.transfer_bytes == 0) return refuse("nothing could be transferred");
  if (options.service_threads == 0) return refuse("nobody would answer requests");
  if (options.retry_ns == 0 || options.max_retry_ns < options.retry_ns) return refuse("pauses must grow from above 0");
  if (options.max_message_bytes > base::GiB) return refuse("max_message_bytes is above 1 GiB");
  if (options.job_key == JobKey{}) return refuse("there is no job key");
  if (wire.max_message() < kFragmentOverhead + kMinFragment + 2 * kMaxWireAddress)
    return refuse("the provider's messages are too short");
  return {};
}

}  // namespace

Endpoint::Endpoint(std::unique_ptr<EndpointCore> core) : core_(std::move(core)) {}
Endpoint::~Endpoint() = default;

base::Result<std::unique_ptr<Endpoint>> Endpoint::open(std::unique_ptr<Wire> wire, const EndpointOptions& options,
                                                       Handlers handlers) {
  PERDURE_CHECK(check_options(options, *wire));
  auto core = std::make_unique<EndpointCore>(std::move(wire), options, std::move(handlers));
  PERDURE_CHECK(core->start());
  return std::unique_ptr<Endpoint>(new Endpoint(std::move(core)));
}

Bytes Endpoint::address() const { return core_->address(); }

base::Result<PeerId> Endpoint::connect(ConstByteSpan address, std::uint64_t timeout_ns) {
  return core_->connect(address, timeout_ns);
}

base::Status Endpoint::introduce(ConstByteSpan address, std::uint64_t within_ns) {
  return core_->introduce(address, within_ns);
}

bool Endpoint::is_connected(ConstByteSpan address) const { return peer_at(address).has_value(); }

std::optional<PeerId> Endpoint::peer_at(ConstByteSpan address) const { return core_->peer_at(address); }

void Endpoint::disconnect(PeerId peer) noexcept { core_->disconnect(peer); }

base::Result<std::string> Endpoint::name_of(PeerId peer) const {
  PERDURE_TRY(const PeerPointer known, core_->find(peer));
  return known->name;
}

base::Result<Bytes> Endpoint::call(PeerId peer, ConstByteSpan request, std::uint64_t timeout_ns) {
  return core_->call(peer, request, timeout_ns);
}

base::Status Endpoint::begin_call(PeerId peer, ConstByteSpan request, std::uint64_t timeout_ns,
                                  std::function<void(base::Result<Bytes>)> then) {
  return core_->begin_call(peer, request, timeout_ns, std::move(then));
}

base::Result<RemoteMemory> Endpoint::expose(ByteSpan memory, Access access, const std::optional<FileHint>& file) {
  return core_->expose(memory, access, file);
}

void Endpoint::withdraw(const RemoteMemory& memory) { core_->withdraw(memory); }

base::Status Endpoint::read(PeerId peer, const RemoteMemory& memory, std::uint64_t offset, ByteSpan target,
                            std::uint64_t timeout_ns) {
  const ReadPiece piece{memory, offset, target};
  return core_->read_many(peer, {&piece, 1}, timeout_ns);
}

base::Status Endpoint::read_many(PeerId peer, std::span<const ReadPiece> pieces, std::uint64_t timeout_ns) {
  return core_->read_many(peer, pieces, timeout_ns);
}

base::Status Endpoint::write(PeerId peer, const RemoteMemory& memory, std::uint64_t offset, ConstByteSpan source,
                             std::uint64_t timeout_ns) {
  return core_->write(peer, memory, offset, source, timeout_ns);
}

std::optional<View> Endpoint::view(PeerId peer, const RemoteMemory& memory) { return core_->view(peer, memory); }

base::Result<PeerStatistics> Endpoint::statistics(PeerId peer) const {
  PERDURE_TRY(const PeerPointer known, core_->find(peer));
  const PeerCounters& c = known->counters;
  return PeerStatistics{c.messages_sent, c.messages_received,  c.bytes_sent,      c.bytes_received, c.bytes_read,
                        c.bytes_written, c.bytes_read_locally, c.retransmissions, c.pings,          c.dropped};
}

EndpointStatistics Endpoint::statistics() const { return core_->statistics(); }

}  // namespace perdure::network
