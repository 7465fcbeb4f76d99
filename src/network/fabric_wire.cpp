// Manages lifetime, peers and memory of the fabric wire.
#include "network/fabric_wire.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "network/fabric_buffer.hpp"
#include "os/system.hpp"

namespace perdure::network {
namespace {

// The provider copies messages of up to 16 KiB; longer ones cost one more round trip.
constexpr std::size_t kMaxMessageOnFabric = 16 * base::KiB;
constexpr std::size_t kMaxFreeBuffers = 256;

}  // namespace

base::Result<std::unique_ptr<Wire>> make_fabric_wire(const FabricOptions& options) { return FabricWire::make(options); }

base::Result<std::string> try_fabric(const FabricOptions& options) {
  PERDURE_TRY(const auto fabric, open_fabric(options));
  const char* provider = fabric.info->fabric_attr->prov_name;
  const char* domain = fabric.info->domain_attr->name;
  std::string used = provider != nullptr ? provider : options.provider;
  if (domain != nullptr) used += std::string(" by ") + domain;
  return used;
}

base::Result<WireBufferPointer> FabricBuffer::make(const FabricResources& fabric, std::size_t bytes) {
  Bytes memory(bytes);
  FidPointer<fid_mr> registration;
  if (fabric.needs_local_registration()) {
    fid_mr* raw = nullptr;
    const int code = ::fi_mr_reg(fabric.domain.get(), memory.data(), bytes, FI_SEND | FI_RECV | FI_READ | FI_WRITE, 0,
                                 os::random_u64(), 0, &raw, nullptr);
    if (code != 0) return base::fail(fabric_error(*fabric.library, code, "fi_mr_reg", "network buffer"));
    registration.reset(raw);
  }
  return std::make_shared<FabricBuffer>(std::move(registration), std::move(memory));
}

base::Result<std::unique_ptr<Wire>> FabricWire::make(const FabricOptions& options) {
  PERDURE_TRY(FabricResources fabric, open_fabric(options));
  os::Fd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return base::fail(base::errno_error(errno, "eventfd", "network"));
  PERDURE_TRY(FabricDoor door, FabricDoor::open(fabric.address));
  return std::unique_ptr<Wire>(new FabricWire(std::move(fabric), std::move(door), std::move(wake), options.sleep_ns));
}

FabricWire::FabricWire(FabricResources fabric, FabricDoor door, os::Fd wake, std::uint64_t sleep_ns)
    : fabric_(std::move(fabric)), door_(std::move(door)), wake_(std::move(wake)), sleep_ns_(sleep_ns) {
  free_buffers_.reserve(kMaxFreeBuffers);
}

FabricWire::~FabricWire() { stop(); }

std::size_t FabricWire::max_message() const {
  return std::min(kMaxMessageOnFabric, fabric_.info->ep_attr->max_msg_size);
}

base::Status FabricWire::start(WireEvents& events) {
  events_ = &events;
  PERDURE_CHECK(post_receives());
  PERDURE_TRY(thread_, os::Thread::start(
                           "wire", [this] { run(); }, [this](const base::Error&) { return !stopping_.load(); }));
  return {};
}

void FabricWire::wake() const {
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);  // a full pipe means that it is awake
}

void FabricWire::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (!open_) return;
    open_ = false;
  }
  stopping_ = true;
  wake();
  thread_.join();
  // The provider releases all buffers when its endpoint is closed; only then they may be freed.
  exposed_.clear();
  fabric_.endpoint.reset();
  for (Operation& operation : operations_)
    if (operation.kind == Kind::transfer && !operation.reported)
      tell(operation.transfer.token, base::fail(PERDURE_CLOSED, "network", "it was closed"));
  operations_.clear();
  free_buffers_.clear();
}

base::Result<WirePeer> FabricWire::connect(ConstByteSpan address) {
  // Providers read as many bytes as their addresses have.
  if (address.size() != fabric_.address.size())
    return base::fail(PERDURE_INVALID_ARGUMENT, "engine address", "it is of another kind of network",
                      "set the same provider on all nodes");
  const std::lock_guard lock(mutex_);
  const Bytes key(address.begin(), address.end());
  AddressEntry& entry = known_.addresses[key];
  if (entry.users == 0) {
    const int inserted = ::fi_av_insert(fabric_.addresses.get(), key.data(), 1, &entry.to, 0, nullptr);
    if (inserted != 1) {
      known_.addresses.erase(key);
      return base::fail(PERDURE_INVALID_ARGUMENT, "engine address", "the network provider does not take it");
    }
  }
  ++entry.users;
  const WirePeer peer = known_.next++;
  known_.peers[peer] = {key, entry.to, 0};
  return peer;
}

void FabricWire::forget(WirePeer peer) {
  {
    const std::lock_guard lock(mutex_);
    const auto it = known_.peers.find(peer);
    if (it == known_.peers.end()) return;
    for (auto next = operations_.begin(); next != operations_.end();) {
      Operation& operation = *next++;
      if (operation.peer != peer) continue;
      if (operation.kind == Kind::transfer)
        give_up(operation);  // its buffer stays until the provider is done with it
      else if (operation.waits)
        release(operation);
    }
    const auto address = known_.addresses.find(it->second.address);
    known_.peers.erase(it);
    if (--address->second.users == 0) {
      ::fi_av_remove(fabric_.addresses.get(), &address->second.to, 1, 0);
      known_.addresses.erase(address);
    }
  }
  wake();
}

base::Result<WireMemory> FabricWire::expose(ByteSpan memory, Access access) {
  const std::uint64_t rights = FI_REMOTE_READ | (access == Access::read_and_write ? FI_REMOTE_WRITE : 0);
  const std::size_t key_bytes = fabric_.info->domain_attr->mr_key_size;
  const std::uint64_t mask = key_bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * key_bytes)) - 1;
  fid_mr* raw = nullptr;
  const int code = ::fi_mr_reg(fabric_.domain.get(), memory.data(), memory.size(), rights, 0, os::random_u64() & mask,
                               0, &raw, nullptr);
  if (code != 0) return base::fail(fabric_error(*fabric_.library, code, "fi_mr_reg", "memory for peers"));
  FidPointer<fid_mr> region(raw);
  const std::uint64_t key = ::fi_mr_key(raw);
  const std::lock_guard lock(mutex_);
  exposed_[key] = std::move(region);
  const auto base = reinterpret_cast<std::uintptr_t>(memory.data());
  return WireMemory{key, fabric_.names_virtual_addresses() ? base : 0, memory.size()};
}

void FabricWire::withdraw(const WireMemory& memory) {
  FidPointer<fid_mr> region;
  const std::lock_guard lock(mutex_);
  if (const auto it = exposed_.find(memory.key); it != exposed_.end()) {
    region = std::move(it->second);
    exposed_.erase(it);
  }
}

base::Result<WireBufferPointer> FabricWire::make_buffer(std::size_t bytes) {
  return FabricBuffer::make(fabric_, bytes);
}

}  // namespace perdure::network
