#pragma once
// Carries bytes between engines: messages that may get lost, and memory that others read. It is thin, and unreliable on
// purpose: the endpoint above it repairs whatever a wire loses, doubles, reorders or damages.
//
// Calls: start() once, then any call by any thread, then stop() once. No call blocks, and none calls WireEvents from
// inside itself: those come from the wire's own thread, one at a time.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/fields.hpp"
#include "base/result.hpp"

namespace perdure::network {

using Bytes = std::vector<std::byte>;
using base::ByteSpan;
using base::ConstByteSpan;
using WirePeer = std::uint64_t;

/// Memory that peers may access, as a peer has to name it.
struct WireMemory {
  std::uint64_t key = 0;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const WireMemory&, const WireMemory&) = default;
  PERDURE_FIELDS(key, base, bytes)
  std::string wrong() const { return base + bytes >= base ? "" : "field 'bytes': it goes on after the last address"; }
};

enum class Access { read, read_and_write };
constexpr Access greatest(Access) { return Access::read_and_write; }

/// Source and target of one-sided transfers. It is the wire's own memory, so that a late transfer cannot overwrite
/// memory with another use. It is registered if the provider requires that. It must be destroyed before the wire.
class WireBuffer {
 public:
  virtual ~WireBuffer() = default;
  virtual ByteSpan span() = 0;
};
using WireBufferPointer = std::shared_ptr<WireBuffer>;

/// One one-sided transfer of the first `bytes` of `buffer`, from or to `memory` at `offset`.
struct WireTransfer {
  WirePeer peer = 0;
  WireMemory memory;
  std::uint64_t offset = 0;
  WireBufferPointer buffer;
  std::size_t bytes = 0;
  std::uint64_t token = 0;  ///< the caller's name for it
  bool write = false;
};

/// Receives a wire's reports. The calls must return soon.
class WireEvents {
 public:
  virtual ~WireEvents() = default;
  virtual void on_message(ConstByteSpan message) = 0;
  /// Called exactly once for every transfer that was begun, at the latest in stop().
  virtual void on_transfer(std::uint64_t token, base::Status status) = 0;
  /// A hint, for a message that certainly got lost: the peer's process may be gone.
  virtual void on_send_failed(WirePeer peer, const base::Error& error) = 0;
};

class Wire {
 public:
  virtual ~Wire() = default;
  virtual base::Status start(WireEvents& events) = 0;
  /// No report follows this. Repeatable.
  virtual void stop() = 0;
  virtual Bytes address() const = 0;  ///< of this end; at most kMaxWireAddress bytes
  virtual std::size_t max_message() const = 0;
  /// Resolves an address; does not find out whether an endpoint is there.
  virtual base::Result<WirePeer> connect(ConstByteSpan address) = 0;
  /// Forgets the peer; its transfers end with an error.
  virtual void forget(WirePeer peer) = 0;
  /// Copies the message. PERDURE_BUSY: too much for this peer is in flight, and the message was dropped.
  virtual base::Status send(WirePeer peer, ConstByteSpan message) = 0;
  virtual base::Result<WireMemory> expose(ByteSpan memory, Access access) = 0;
  virtual void withdraw(const WireMemory& memory) = 0;
  virtual base::Result<WireBufferPointer> make_buffer(std::size_t bytes) = 0;
  /// On success on_transfer follows.
  virtual base::Status begin(WireTransfer transfer) = 0;
};

inline constexpr std::size_t kMaxWireAddress = 256;

struct FabricOptions {
  std::string provider = "tcp";  ///< libfabric's name: "tcp", "verbs", ...
  /// The name of the interface, its address, or a host name that it has; empty: the provider's choice.
  std::string bind_address;
  std::uint64_t sleep_ns = 1'000'000'000;  ///< longest sleep of the progress thread when nothing comes
};

/// Opens reliable datagram endpoints of libfabric, which the first call loads. PERDURE_UNAVAILABLE if it or the
/// provider is missing.
base::Result<std::unique_ptr<Wire>> make_fabric_wire(const FabricOptions& options);
/// Checks whether an engine could have such a wire here, by opening one end of it. Returns libfabric's names of the
/// provider and interface, as "tcp by eth0". Errors are those of make_fabric_wire().
base::Result<std::string> try_fabric(const FabricOptions& options);

}  // namespace perdure::network
