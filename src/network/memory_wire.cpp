#include "network/memory_wire.hpp"

#include <cstring>

#include "network/memory_end.hpp"

namespace perdure::network {
namespace {

constexpr std::size_t kMaxMessage = 4096;  // small, so that tests see many fragments

class PlainBuffer : public WireBuffer {
 public:
  explicit PlainBuffer(std::size_t bytes) : bytes_(bytes) {}
  ByteSpan span() override { return bytes_; }

 private:
  Bytes bytes_;
};

}  // namespace

/// Transfers that have begun and are not reported; the thread that takes one out reports it.
struct OpenTransfers {
  std::mutex mutex;
  std::map<std::uint64_t, WirePeer> peers;  // by token
  bool take(std::uint64_t token) {
    const std::lock_guard lock(mutex);
    return peers.erase(token) == 1;
  }
};

class MemoryWire : public Wire {
 public:
  MemoryWire(std::shared_ptr<MemoryFabric> fabric, std::shared_ptr<MemoryEnd> end, std::uint64_t id)
      : fabric_(std::move(fabric)), end_(std::move(end)), id_(id) {}
  ~MemoryWire() override { stop(); }

  base::Status start(WireEvents& events) override {
    events_ = &events;
    return end_->start(events);
  }
  void stop() override {
    if (std::exchange(stopped_, true)) return;
    fabric_->detach(id_);
    end_->stop();
    fail_transfers([](WirePeer) { return true; }, [this](std::uint64_t token) { report_lost(token); });
  }
  Bytes address() const override {
    Bytes bytes(sizeof id_);
    std::memcpy(bytes.data(), &id_, sizeof id_);
    return bytes;
  }
  std::size_t max_message() const override { return kMaxMessage; }
  base::Result<WirePeer> connect(ConstByteSpan address) override {
    std::uint64_t id = 0;
    if (address.size() != sizeof id) return base::fail(PERDURE_INVALID_ARGUMENT, "address", "it is not of this fabric");
    std::memcpy(&id, address.data(), sizeof id);
    return id;
  }
  void forget(WirePeer peer) override {
    fail_transfers([peer](WirePeer other) { return other == peer; },
                   [this](std::uint64_t token) {
                     end_->later(0, [token](WireEvents& events) { events.on_transfer(token, lost()); });
                   });
  }
  base::Status send(WirePeer peer, ConstByteSpan message) override {
    if (message.size() > kMaxMessage)
      return base::fail(PERDURE_INVALID_ARGUMENT, "message", "it is longer than the wire takes");
    fabric_->deliver(id_, peer, message);
    return {};
  }
  base::Result<WireMemory> expose(ByteSpan memory, Access access) override { return end_->expose(memory, access); }
  void withdraw(const WireMemory& memory) override { end_->withdraw(memory.key); }
  base::Result<WireBufferPointer> make_buffer(std::size_t bytes) override {
    return std::make_shared<PlainBuffer>(bytes);
  }
  base::Status begin(WireTransfer transfer) override;

 private:
  static base::Status lost() { return base::fail(PERDURE_PEER_FAILED, "transfer", "the peer is gone", {}, true); }
  void report_lost(std::uint64_t token) {
    if (events_ != nullptr) events_->on_transfer(token, lost());
  }
  template <class Which, class Report>
  void fail_transfers(const Which& which, const Report& report) {
    std::vector<std::uint64_t> tokens;
    {
      const std::lock_guard lock(open_->mutex);
      for (const auto& [token, peer] : open_->peers)
        if (which(peer)) tokens.push_back(token);
      for (const std::uint64_t token : tokens) open_->peers.erase(token);
    }
    for (const std::uint64_t token : tokens) report(token);
  }

  std::shared_ptr<MemoryFabric> fabric_;
  std::shared_ptr<MemoryEnd> end_;
  const std::uint64_t id_;
  WireEvents* events_ = nullptr;
  bool stopped_ = false;
  std::shared_ptr<OpenTransfers> open_ = std::make_shared<OpenTransfers>();
};

base::Status MemoryWire::begin(WireTransfer transfer) {
  {
    const std::lock_guard lock(open_->mutex);
    open_->peers[transfer.token] = transfer.peer;
  }
  std::uint64_t delay_ns = 0;
  // As on a real network, a transfer lost in a cut is reported when the peer is forgotten.
  const auto target = fabric_->find(transfer.peer);
  if (!fabric_->route(id_, transfer.peer, delay_ns) || target == nullptr) return {};
  std::weak_ptr<MemoryEnd> here = end_;
  target->later(delay_ns, [transfer = std::move(transfer), target = target.get(), here, open = open_, fabric = fabric_,
                           id = id_](WireEvents&) {
    std::uint64_t unused = 0;
    const auto initiator = here.lock();
    if (initiator == nullptr || !fabric->route(transfer.peer, id, unused)) return;
    const auto range = transfer.buffer->span().first(transfer.bytes);
    base::Status status = target->copy(transfer.memory, transfer.offset, range, transfer.write);
    initiator->later(0, [status = std::move(status), token = transfer.token, open](WireEvents& events) {
      if (open->take(token)) events.on_transfer(token, status);
    });
  });
  return {};
}

std::unique_ptr<Wire> MemoryFabric::make_wire() {
  auto end = std::make_shared<MemoryEnd>();
  const std::lock_guard lock(mutex_);
  const std::uint64_t id = next_id_++;
  ends_[id] = end;
  return std::make_unique<MemoryWire>(shared_from_this(), std::move(end), id);
}

}  // namespace perdure::network
