#pragma once
// Gives engines the network: requests with answers, and memory that peers read, between engines that proved the job key
// to each other. It is the same over every wire. Thread-safe.
#include <functional>
#include <memory>
#include <span>

#include "network/proof.hpp"
#include "network/views.hpp"

namespace perdure::network {

struct EndpointOptions {
  JobKey job_key{};                                 ///< secret, and the same on all engines of a job
  std::size_t max_message_bytes = 16U << 20;        ///< of one request or reply
  unsigned window_calls = 16;                       ///< in flight per peer at once; the same on all engines
  std::size_t window_bytes = 64U << 20;             ///< of requests in flight per peer; the same on all engines
  unsigned window_transfers = 4;                    ///< pieces of reads and writes in flight per peer
  std::size_t transfer_bytes = 1U << 20;            ///< of one piece
  std::uint64_t retry_ns = 200'000'000;             ///< first pause before a repetition
  std::uint64_t max_retry_ns = 2'000'000'000;       ///< longest pause
  std::uint64_t guard_interval_ns = 1'000'000'000;  ///< a peer that was silent for this time is pinged; 0: no guard
  std::uint64_t guard_limit_ns = 5'000'000'000;     ///< a peer that was silent for this time is lost
  unsigned service_threads = 2;                     ///< run handlers
  bool local = true;                                ///< read from peers on the same host through their files
};

using PeerId = std::uint64_t;  ///< names one session; a peer that comes back has another one

/// Service threads call these, several at once, and for one peer in any order; the receiving thread calls them for
/// brief requests. A handler that calls other peers occupies its thread meanwhile. No handler may destroy the endpoint.
struct Handlers {
  std::function<base::Result<Bytes>(PeerId, ConstByteSpan request)> serve;
  /// Called once for every peer that was connected, unless this end closes. Its calls have failed by then.
  std::function<void(PeerId, const base::Error&)> on_lost;
  /// Whether serve() takes and waits so little for this request that the receiving thread may call it, which saves
  /// waking two threads. Asked for requests of one wire message. Empty: for none.
  std::function<bool(ConstByteSpan request)> is_brief = {};
};

struct PeerStatistics {
  std::uint64_t messages_sent = 0, messages_received = 0;
  std::uint64_t bytes_sent = 0, bytes_received = 0;  ///< in messages
  std::uint64_t bytes_read = 0, bytes_written = 0;   ///< in reads and writes over the wire
  std::uint64_t bytes_read_locally = 0;
  std::uint64_t retransmissions = 0;
  std::uint64_t pings = 0;
  std::uint64_t dropped = 0;  ///< damaged, invalid or beyond the limits
};

struct EndpointStatistics {
  std::uint64_t peers = 0, half_open = 0, transfers = 0, views = 0;  ///< now
  std::uint64_t clock_ticks = 0;                                     ///< wake-ups of the guard's thread
  std::uint64_t messages_received = 0;
  std::uint64_t dropped = 0;                      ///< damaged, or of no standing session
  std::uint64_t unauthenticated = 0;              ///< messages of peers without a proof
  std::vector<base::Error> last_unauthenticated;  ///< unauthenticated peers, and what they tried; at most 16
};

/// A piece of remote memory, and its target.
struct ReadPiece {
  RemoteMemory memory;
  std::uint64_t offset = 0;
  ByteSpan target;
};

class EndpointCore;

class Endpoint {
 public:
  static base::Result<std::unique_ptr<Endpoint>> open(std::unique_ptr<Wire> wire, const EndpointOptions& options,
                                                      Handlers handlers);
  /// Fails calls in flight with PERDURE_CLOSED, and waits for them and for running handlers.
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  /// Returns the opaque address for connect() of others.
  Bytes address() const;
  /// Connects, and returns the peer after both have proved the job key; returns the known peer if it is connected.
  /// PERDURE_TIMEOUT: no endpoint with the key answers. PERDURE_PEER_FAILED: the address is of an engine that was
  /// restarted.
  base::Result<PeerId> connect(ConstByteSpan address, std::uint64_t timeout_ns);
  /// Begins connect() without waiting, so that connections to several peers are made concurrently and ahead of need.
  /// The attempt ends after `within_ns`. Does nothing for a connected peer, or this engine.
  base::Status introduce(ConstByteSpan address, std::uint64_t within_ns);
  bool is_connected(ConstByteSpan address) const;              ///< whether a session with that very engine stands
  std::optional<PeerId> peer_at(ConstByteSpan address) const;  ///< if it is connected
  void disconnect(PeerId peer) noexcept;                       ///< fails its calls, without on_lost; needs no memory
  base::Result<std::string> name_of(PeerId peer) const;

  /// Returns the answer of the peer's handler, which runs at most once. PERDURE_PEER_FAILED: the peer was lost.
  /// PERDURE_TIMEOUT: no answer yet. In both cases the handler may have run.
  base::Result<Bytes> call(PeerId peer, ConstByteSpan request, std::uint64_t timeout_ns);
  /// Does so without waiting. An error means that the request was not sent; PERDURE_BUSY if too many are in flight.
  /// Otherwise a thread of this endpoint passes the outcome to then(), once, unless the endpoint is destroyed first.
  /// then() must not block. It is never called from inside this call: the caller may hold locks that then() needs.
  base::Status begin_call(PeerId peer, ConstByteSpan request, std::uint64_t timeout_ns,
                          std::function<void(base::Result<Bytes>)> then);

  /// Lets connected peers read (and write) this memory. It has to stay mapped until this endpoint is gone, or for a
  /// while after withdraw(), because transfers that have begun are not called back.
  base::Result<RemoteMemory> expose(ByteSpan memory, Access access, const std::optional<FileHint>& file = {});
  void withdraw(const RemoteMemory& memory);

  /// Reads bytes [offset, offset + target.size()) of the peer's memory. They carry no checksum: compare hashes.
  base::Status read(PeerId peer, const RemoteMemory& memory, std::uint64_t offset, ByteSpan target,
                    std::uint64_t timeout_ns);
  base::Status read_many(PeerId peer, std::span<const ReadPiece> pieces, std::uint64_t timeout_ns);
  base::Status write(PeerId peer, const RemoteMemory& memory, std::uint64_t offset, ConstByteSpan source,
                     std::uint64_t timeout_ns);
  /// Maps the peer's memory itself, if it is on this host and also a file.
  std::optional<View> view(PeerId peer, const RemoteMemory& memory);

  base::Result<PeerStatistics> statistics(PeerId peer) const;
  EndpointStatistics statistics() const;

 private:
  explicit Endpoint(std::unique_ptr<EndpointCore> core);
  std::unique_ptr<EndpointCore> core_;
};

}  // namespace perdure::network
