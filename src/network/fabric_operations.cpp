// Sends and transfers over the fabric wire.
#include <cstring>
#include <set>

#include "network/fabric_buffer.hpp"
#include "network/fabric_wire.hpp"
#include "os/system.hpp"

namespace perdure::network {
namespace {

constexpr unsigned kReceives = 64;                 // buffers that wait for messages
constexpr unsigned kMaxSends = 768;                // in flight to one peer: the windows of all its calls
constexpr std::uint64_t kMaxWait = 1'000'000'000;  // a message that waits longer will be repeated anyway

const FabricBuffer& fabric_buffer(const WireBufferPointer& buffer) { return static_cast<FabricBuffer&>(*buffer); }

}  // namespace

std::list<FabricWire::Operation>::iterator FabricWire::add(Kind kind, WirePeer peer, fi_addr_t to,
                                                           WireBufferPointer buffer, std::size_t bytes) {
  Operation& operation = operations_.emplace_back();
  operation.kind = kind;
  operation.peer = peer;
  operation.to = to;
  operation.buffer = std::move(buffer);
  operation.bytes = bytes;
  operation.since_ns = os::monotonic_ns();
  operation.self = std::prev(operations_.end());
  return operation.self;
}

base::Result<WireBufferPointer> FabricWire::take_message_buffer() {
  if (free_buffers_.empty()) return make_buffer(max_message());
  auto buffer = std::move(free_buffers_.back());
  free_buffers_.pop_back();
  return buffer;
}

void FabricWire::release(Operation& operation) {
  if (operation.kind == Kind::send) {
    if (const auto it = known_.peers.find(operation.peer); it != known_.peers.end()) --it->second.under_way;
    if (free_buffers_.size() < free_buffers_.capacity()) free_buffers_.push_back(std::move(operation.buffer));
  }
  waiting_ -= operation.waits ? 1 : 0;
  given_up_ -= operation.given_up ? 1 : 0;
  operations_.erase(operation.self);
}

base::Status FabricWire::post_receives() {
  const std::lock_guard lock(mutex_);
  for (unsigned i = 0; i < kReceives; ++i) {
    PERDURE_TRY(auto buffer, make_buffer(max_message()));
    const auto operation = add(Kind::receive, 0, FI_ADDR_UNSPEC, std::move(buffer), max_message());
    if (const long code = post(*operation); code != 0)
      return base::fail(fabric_error(*fabric_.library, code, "fi_recv", "network"));
  }
  return {};
}

long FabricWire::post(Operation& operation) {
  fid_ep* const ep = fabric_.endpoint.get();
  void* const data = operation.buffer->span().data();
  void* const descriptor = fabric_buffer(operation.buffer).descriptor();
  if (operation.kind == Kind::receive)
    return ::fi_recv(ep, data, operation.bytes, descriptor, FI_ADDR_UNSPEC, &operation.context);
  if (operation.kind == Kind::send)
    return ::fi_send(ep, data, operation.bytes, descriptor, operation.to, &operation.context);
  const WireMemory& memory = operation.transfer.memory;
  const std::uint64_t where = memory.base + operation.transfer.offset;
  if (!operation.transfer.write)
    return ::fi_read(ep, data, operation.bytes, descriptor, operation.to, where, memory.key, &operation.context);
  iovec local{data, operation.bytes};
  fi_rma_iov remote{where, operation.bytes, memory.key};
  void* descriptors[] = {descriptor};
  const fi_msg_rma message{&local, descriptors, 1, operation.to, &remote, 1, &operation.context, 0};
  return ::fi_writemsg(ep, &message, FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

base::Status FabricWire::launch(std::list<Operation>::iterator operation) {
  const long code = post(*operation);
  if (code == 0) {
    operation->posted = true;
    return {};
  }
  if (code == -FI_EAGAIN) {  // not connected yet, or no room: the thread tries again
    let_wait(*operation);
    wake();
    return {};
  }
  release(*operation);
  return base::fail(fabric_error(*fabric_.library, code, "fi_send", "network"));
}

base::Status FabricWire::send(WirePeer peer, ConstByteSpan message) {
  if (message.size() > max_message())
    return base::fail(PERDURE_INVALID_ARGUMENT, "message", "it is longer than the wire takes");
  const std::lock_guard lock(mutex_);
  const auto it = known_.peers.find(peer);
  if (!open_ || it == known_.peers.end()) return base::fail(PERDURE_CLOSED, "network", "the peer was given up");
  if (it->second.under_way >= kMaxSends)
    return base::fail(PERDURE_BUSY, "network", "too many messages to one peer are under way", {}, true);
  PERDURE_TRY(auto buffer, take_message_buffer());
  if (!message.empty()) std::memcpy(buffer->span().data(), message.data(), message.size());
  ++it->second.under_way;
  return launch(add(Kind::send, peer, it->second.to, std::move(buffer), message.size()));
}

base::Status FabricWire::begin(WireTransfer transfer) {
  const std::lock_guard lock(mutex_);
  const auto it = known_.peers.find(transfer.peer);
  if (!open_ || it == known_.peers.end()) return base::fail(PERDURE_CLOSED, "network", "the peer was given up");
  const auto operation = add(Kind::transfer, transfer.peer, it->second.to, transfer.buffer, transfer.bytes);
  operation->transfer = std::move(transfer);
  return launch(operation);
}

/// Retries operations that the provider could not take. It tries all, so that a missing peer does not keep others
/// waiting.
void FabricWire::post_waiting() {
  const std::lock_guard lock(mutex_);
  if (waiting_ == 0) return;
  const std::uint64_t now = os::monotonic_ns();
  std::set<WirePeer> refused;  // a refused peer is not tried again in this round
  for (auto next = operations_.begin(); next != operations_.end();) {
    Operation& operation = *next++;
    if (!operation.waits || operation.given_up) continue;
    const long code = refused.contains(operation.peer) ? -FI_EAGAIN : post(operation);
    if (code == 0) {
      operation.posted = true;
      operation.waits = false;
      --waiting_;
    } else if (operation.kind == Kind::receive || (code == -FI_EAGAIN && now - operation.since_ns < kMaxWait)) {
      refused.insert(operation.peer);
    } else if (operation.kind == Kind::transfer) {
      give_up(operation);
    } else {
      release(operation);
    }
  }
}

}  // namespace perdure::network
