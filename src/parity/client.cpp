#include "parity/client.hpp"

#include <algorithm>

#include "os/system.hpp"
#include "parity/frames.hpp"
#include "parity/waiting.hpp"

namespace perdure::parity {
namespace {

constexpr const char* kServer = "parity server";

Bytes copy_of(ConstByteSpan bytes) { return {bytes.begin(), bytes.end()}; }

bool settled(Stage stage) { return stage == Stage::unknown || stage == Stage::done || stage == Stage::failed; }

}  // namespace

Client::Client(network::Endpoint& endpoint, AddressSource address, const ClientOptions& options)
    : endpoint_(endpoint), address_(std::move(address)), options_(options) {}

Client::Client(network::Endpoint& endpoint, Bytes address, const ClientOptions& options)
    : Client(
          endpoint, [address = std::move(address)]() -> base::Result<Bytes> { return address; }, options) {}

base::Result<network::PeerId> Client::peer() {
  {
    const std::lock_guard lock(mutex_);
    if (peer_ && endpoint_.name_of(*peer_)) return *peer_;
  }
  PERDURE_TRY(const Bytes address, address_());
  auto peer = endpoint_.connect(address, options_.connect_ns);
  if (!peer) {
    peer.error().object = kServer + (" at " + peer.error().object);
    return peer;
  }
  const std::lock_guard lock(mutex_);
  peer_ = *peer;
  return peer;
}

/// After a pause one thread asks again, and the others' pause goes on until that one knows. A restarted server has
/// another address.
base::Status Client::may_be_asked() {
  const auto address = address_();
  const std::uint64_t now = os::monotonic_ns();
  const std::lock_guard lock(mutex_);
  if (silence_ && address && *address != silence_->address) silence_.reset();
  if (!silence_) return {};
  if (now < silence_->until_ns) return base::fail(silence_->why);
  silence_->until_ns = now + options_.pause_ns;
  return {};
}

void Client::note(const base::Result<Bytes>& reply) {
  const bool silent = !reply && (reply.error().code == PERDURE_TIMEOUT || reply.error().code == PERDURE_PEER_FAILED);
  const auto address = silent ? address_() : base::Result<Bytes>(Bytes());
  const std::lock_guard lock(mutex_);
  silence_.reset();
  if (!silent || !address) return;
  silence_ = {reply.error(), *address, os::monotonic_ns() + options_.pause_ns};
  silence_->why.cause += "; it was not asked again";
}

base::Result<Bytes> Client::ask(const Bytes& request) {
  if (options_.pause_ns == 0) return ask_server(request);
  PERDURE_CHECK(may_be_asked());
  auto reply = ask_server(request);
  note(reply);
  return reply;
}

/// All requests may be repeated, so a session that was lost meanwhile costs one more connection.
base::Result<Bytes> Client::ask_server(const Bytes& request) {
  for (int tries = 0;; ++tries) {
    PERDURE_TRY(const network::PeerId server, peer());
    auto reply = endpoint_.call(server, request, options_.request_ns);
    const bool lost = !reply && !endpoint_.name_of(server);
    if (!lost || tries > 0) return reply;
  }
}

base::Result<Standing> Client::encode(const Order& order) {
  PERDURE_TRY(const Bytes reply, ask(parity::encode(order)));
  return decode_standing(reply);
}

base::Result<Standing> Client::standing(ConstByteSpan id) {
  PERDURE_TRY(const Bytes reply, ask(parity::encode(AskStanding{copy_of(id)})));
  return decode_standing(reply);
}

base::Result<Standing> Client::wait(ConstByteSpan id, std::uint64_t timeout_ns) {
  Pauses pauses(timeout_ns);
  for (;;) {
    PERDURE_TRY(const Standing now, standing(id));
    if (settled(now.stage) || !pauses.pause()) return now;
  }
}

base::Result<Kept> Client::find(ConstByteSpan id) {
  PERDURE_TRY(const Bytes reply, ask(parity::encode(AskKept{copy_of(id)})));
  PERDURE_TRY(Kept kept, decode_kept(reply));
  kept.id = copy_of(id);
  return kept;
}

base::Result<std::vector<Listed>> Client::list(ConstByteSpan prefix) {
  std::vector<Listed> all;
  for (AskList next{copy_of(prefix), {}};;) {
    PERDURE_TRY(const Bytes reply, ask(parity::encode(next)));
    PERDURE_TRY(const std::vector<Listed> page, decode_page(reply));
    if (page.empty()) return all;
    all.insert(all.end(), page.begin(), page.end());
    next.after = page.back().id;
  }
}

base::Result<Inventory> Client::inventory() {
  PERDURE_TRY(const Bytes reply, ask(parity::encode(AskInventory{})));
  return decode_inventory(reply);
}

base::Status Client::drop(ConstByteSpan id) {
  PERDURE_TRY(const Bytes reply, ask(parity::encode(Drop{copy_of(id)})));
  return {};
}

base::Result<PoolMemory> Client::allocate(ConstByteSpan id, std::uint64_t bytes) {
  PERDURE_TRY(const Bytes reply, ask(parity::encode(Allocate{copy_of(id), bytes})));
  PERDURE_TRY(PoolMemory memory, decode_pool_memory(reply));
  memory.id = copy_of(id);
  return memory;
}

base::Result<PoolMemory> Client::open(ConstByteSpan id) {
  PERDURE_TRY(const Bytes reply, ask(parity::encode(OpenMemory{copy_of(id)})));
  PERDURE_TRY(PoolMemory memory, decode_pool_memory(reply));
  memory.id = copy_of(id);
  return memory;
}

base::Status Client::release(ConstByteSpan id) { return drop(id); }

base::Status Client::put(const PoolMemory& memory, std::uint64_t offset, ConstByteSpan source) {
  if (source.size() > kMaxInline)
    return base::fail(PERDURE_INVALID_ARGUMENT, kServer, "a put without a ring has at most 1 MiB");
  PERDURE_TRY(const Bytes reply, ask(parity::encode(Put{memory.id, offset, source})));
  return {};
}

base::Status Client::put(const PoolMemory& memory, std::uint64_t offset, const network::RemoteMemory& source,
                         std::uint64_t from, std::uint64_t bytes) {
  const Bytes request = parity::encode(Pull{memory.id, offset, source, from, bytes});
  Pauses pauses(options_.stall_ns);
  for (;;) {
    const auto reply = ask(request);
    if (reply) return {};
    if (reply.error().code != PERDURE_BUSY || !pauses.pause()) return base::fail(reply.error());
  }
}

base::Status Client::get(const PoolMemory& memory, std::uint64_t offset, ByteSpan target) {
  PERDURE_TRY(const network::PeerId server, peer());
  return endpoint_.read(server, memory.memory, offset, target, options_.request_ns);
}

void Client::retire(Bytes memory) {
  const std::lock_guard lock(mutex_);
  retired_.push_back(std::move(memory));
}

}  // namespace perdure::parity
