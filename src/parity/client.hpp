#pragma once
// The client orders the parities of blocks from a parity server (perdure-parityd), for engines and other programs. The
// server reads the blocks itself from the endpoints that expose them; its clients send small requests and wait.
// Thread-safe.
//
// Every request may be repeated: it names an id that the client chose. All errors come within the time-outs.
// PERDURE_TIMEOUT or PERDURE_PEER_FAILED: the server does not answer or is gone; for a pause after that, calls fail at
// once. A server's content is lost with it: a restarted server answers `unknown`, or PERDURE_NOT_FOUND, for the ids it
// had.
#include <functional>
#include <memory>
#include <mutex>
#include <span>

#include "network/endpoint.hpp"
#include "parity/order.hpp"

namespace perdure::parity {

struct ClientOptions {
  std::uint64_t connect_ns = 10'000'000'000;  ///< limit for connecting
  std::uint64_t request_ns = 30'000'000'000;  ///< limit for the answer to a request
  std::uint64_t stall_ns = 60'000'000'000;    ///< rebuild(): limit without progress of the server
  std::uint64_t pause_ns = 0;                 ///< so long a server that did not answer is not asked again; 0: no pause
};

/// Returns the server's address. Called for every connection, so that a restarted server is found. See server_file.hpp.
using AddressSource = std::function<base::Result<Bytes>()>;

class Client {
 public:
  /// `endpoint` has the key of the server, which the members of orders share; it must outlive this. The first request
  /// connects.
  Client(network::Endpoint& endpoint, AddressSource address, const ClientOptions& options = {});
  Client(network::Endpoint& endpoint, Bytes address, const ClientOptions& options = {});

  /// Orders the parities of `order`; returns as soon as there is room for them. An existing order with this id and the
  /// same lengths and hashes is not begun again, unless it failed. PERDURE_NO_SPACE names the missing bytes, before any
  /// read. PERDURE_EXISTS: the id has other content. PERDURE_INVALID_ARGUMENT. The blocks have to stay unchanged until
  /// the order is done or failed.
  base::Result<Standing> encode(const Order& order);
  base::Result<Standing> standing(ConstByteSpan id);
  /// Waits until it is done or failed (which is a value, too) or unknown; returns the last standing after `timeout_ns`.
  base::Result<Standing> wait(ConstByteSpan id, std::uint64_t timeout_ns);

  /// PERDURE_NOT_FOUND unless there is one and it is done.
  base::Result<Kept> find(ConstByteSpan id);
  /// Lists the entries whose ids begin with `prefix`, ascending by id.
  base::Result<std::vector<Listed>> list(ConstByteSpan prefix);
  base::Result<Inventory> inventory();
  /// Drops the order or memory with this id at any stage; success if there is none.
  base::Status drop(ConstByteSpan id);

  /// Fills `target`, as long as the lost block, from the parity and the survivors. Survivors are all members of the
  /// stripe that had bytes in it, except the lost one. The server reads the remote survivors, one hash each. Its result
  /// and the local survivors are combined and compared with missing.hash. PERDURE_NOT_FOUND: no such order, stripe or
  /// position. PERDURE_INVALID_ARGUMENT: survivors or length do not match the order. PERDURE_CORRUPT names the
  /// survivor, or the parity, that has changed. PERDURE_PEER_FAILED, PERDURE_TIMEOUT name the unreadable survivor.
  /// PERDURE_BUSY, retryable: too many rebuilds at once.
  base::Status rebuild(const Kept& kept, const Missing& missing, std::span<const Survivor> survivors, ByteSpan target);

  // These use memory of the pool directly (libNAM of the papers). channel.hpp has put and get with ring buffers.

  /// Allocates zeroed memory; returns the existing one if there is one with this id and length. It stays until
  /// release(), even without the client. PERDURE_NO_SPACE. PERDURE_EXISTS: the id has another length, or is an order.
  base::Result<PoolMemory> allocate(ConstByteSpan id, std::uint64_t bytes);
  base::Result<PoolMemory> open(ConstByteSpan id);  ///< PERDURE_NOT_FOUND
  base::Status release(ConstByteSpan id);           ///< as drop()
  /// Copies; the data is there when this returns. At most kMaxInline bytes, for more see Channel.
  base::Status put(const PoolMemory& memory, std::uint64_t offset, ConstByteSpan source);
  /// Makes the server read bytes [from, from + bytes) of `source`, which the client's endpoint exposes, into memory
  /// [offset, offset + bytes).
  base::Status put(const PoolMemory& memory, std::uint64_t offset, const network::RemoteMemory& source,
                   std::uint64_t from, std::uint64_t bytes);
  base::Status get(const PoolMemory& memory, std::uint64_t offset, ByteSpan target);

  network::Endpoint& endpoint() const { return endpoint_; }
  /// Keeps exposed memory mapped until this ends: the server may still read it.
  void retire(Bytes memory);

 private:
  base::Result<network::PeerId> peer();
  base::Result<Bytes> ask(const Bytes& request);
  base::Result<Bytes> ask_server(const Bytes& request);
  base::Status may_be_asked();
  void note(const base::Result<Bytes>& reply);
  base::Status combine_remote(const Kept& kept, const Missing& missing, std::span<const Survivor> survivors,
                              ByteSpan target);
  base::Status fetch_rebuilt(std::uint64_t ticket, ByteSpan target);

  network::Endpoint& endpoint_;
  const AddressSource address_;
  const ClientOptions options_;
  std::mutex mutex_;
  std::optional<network::PeerId> peer_;
  struct Silence {
    base::Error why;
    Bytes address;
    std::uint64_t until_ns = 0;
  };
  std::optional<Silence> silence_;
  std::vector<Bytes> retired_;
};

inline constexpr std::size_t kMaxInline = 1U << 20;

/// Several servers: each id has one, chosen by its hash, alike on all clients that name the same servers in the same
/// order. The ids of a dead server give errors; no other server takes over.
class Servers {
 public:
  explicit Servers(std::vector<std::unique_ptr<Client>> clients);  ///< at least one
  Client& of(ConstByteSpan id) const;
  std::size_t size() const { return clients_.size(); }
  Client& at(std::size_t index) const { return *clients_.at(index); }
  /// Lists the entries of all servers; an error if one of them does not answer.
  base::Result<std::vector<Listed>> list(ConstByteSpan prefix) const;

 private:
  std::vector<std::unique_ptr<Client>> clients_;
};

}  // namespace perdure::parity
