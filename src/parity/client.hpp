#pragma once
// The client of a parity server (perdure-parityd), for engines and other programs: it orders the parities of blocks.
// The server reads the blocks itself from the endpoints that expose them; its clients send small requests and wait.
// Thread-safe.
//
// Every request may be repeated: it is about an id that the client chose. All errors come within the time-outs:
// PERDURE_TIMEOUT or PERDURE_PEER_FAILED when the server does not answer or is gone; then, for a pause, at once. What a
// server held is lost with it: a restarted server answers `unknown`, or PERDURE_NOT_FOUND, for the ids it had.
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
  std::uint64_t pause_ns = 0;                 ///< so long a server that did not answer is not asked again; 0: it is
};

/// Where the server is: called for every connection, so that one that was started again is found. See server_file.hpp.
using AddressSource = std::function<base::Result<Bytes>()>;

class Client {
 public:
  /// `endpoint`: with the key of the server, which the members of orders have, too; must outlive this. Connects with
  /// the first request.
  Client(network::Endpoint& endpoint, AddressSource address, const ClientOptions& options = {});
  Client(network::Endpoint& endpoint, Bytes address, const ClientOptions& options = {});

  /// Orders the parities of `order`; returns as soon as there is room for them. An order with this id and the same
  /// lengths and hashes that is there already is not begun again, unless it failed. Errors: PERDURE_NO_SPACE with
  /// the bytes that are missing, before anything is read; PERDURE_EXISTS, the id has other content;
  /// PERDURE_INVALID_ARGUMENT. The blocks have to stay as they are until the order is done or failed.
  base::Result<Standing> encode(const Order& order);
  base::Result<Standing> standing(ConstByteSpan id);
  /// Until it is done or failed (which is a value, too) or unknown; the last standing when `timeout_ns` is over.
  base::Result<Standing> wait(ConstByteSpan id, std::uint64_t timeout_ns);

  /// PERDURE_NOT_FOUND unless there is one and it is done.
  base::Result<Kept> find(ConstByteSpan id);
  /// What has an id that begins with `prefix`, ascending by id.
  base::Result<std::vector<Listed>> list(ConstByteSpan prefix);
  base::Result<Inventory> inventory();
  /// Drops the order or memory with this id, whatever its stage; success when there is none.
  base::Status drop(ConstByteSpan id);

  /// Fills `target`, as long as the lost block, from the parity and the survivors: all members of the stripe that had
  /// bytes in it, except the lost one. The server reads those that are not here, one hash each; what it hands out, and
  /// the survivors that are here, are combined and compared with missing.hash. Errors: PERDURE_NOT_FOUND (no such
  /// order, stripe or position); PERDURE_INVALID_ARGUMENT (survivors or length are not those of the order);
  /// PERDURE_CORRUPT names the survivor, or the parity, that is not what it was; PERDURE_PEER_FAILED, PERDURE_TIMEOUT
  /// name the survivor that cannot be read; PERDURE_BUSY, retryable: too many rebuilds at once.
  base::Status rebuild(const Kept& kept, const Missing& missing, std::span<const Survivor> survivors, ByteSpan target);

  // Memory of the pool, used directly (libNAM of the papers). channel.hpp has put and get with ring buffers.

  /// The same memory again when there is one with this id and length. Stays until release(), whatever becomes of the
  /// client. Its content is zero at first. PERDURE_NO_SPACE, PERDURE_EXISTS (another length, or an order).
  base::Result<PoolMemory> allocate(ConstByteSpan id, std::uint64_t bytes);
  base::Result<PoolMemory> open(ConstByteSpan id);  ///< PERDURE_NOT_FOUND
  base::Status release(ConstByteSpan id);           ///< as drop()
  /// Copies; it is there when this returns. At most kMaxInline bytes, for more see Channel.
  base::Status put(const PoolMemory& memory, std::uint64_t offset, ConstByteSpan source);
  /// The server reads bytes [from, from + bytes) of `source`, which the client's endpoint exposes, into memory
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

/// Several servers: each id has one, chosen by its hash, on all clients alike when they name the same servers in the
/// same order. The ids of a dead server give errors; no other server takes over.
class Servers {
 public:
  explicit Servers(std::vector<std::unique_ptr<Client>> clients);  ///< at least one
  Client& of(ConstByteSpan id) const;
  std::size_t size() const { return clients_.size(); }
  Client& at(std::size_t index) const { return *clients_.at(index); }
  /// Of all servers; an error when one of them does not answer.
  base::Result<std::vector<Listed>> list(ConstByteSpan prefix) const;

 private:
  std::vector<std::unique_ptr<Client>> clients_;
};

}  // namespace perdure::parity
