#pragma once
// Holds the endpoint's state and threads. Private to the endpoint. The wire's thread receives, service threads run
// handlers, and the clock's thread repeats unanswered messages and guards.
//
// Locks: `mutex_` (known peers), each peer's (calls, transfers), and those inside `transfers_`, `visits_`, `received_`,
// `for_clock_`. No thread holds one of these while it takes another. All may be held when the wire or the clock is
// called. Handlers, and reports of calls without a waiting caller, run without any.
#include <deque>

#include "base/guarded.hpp"
#include "network/clock.hpp"
#include "network/peer_table.hpp"
#include "network/received.hpp"
#include "network/service_pool.hpp"
#include "network/transfer_table.hpp"
#include "network/visits.hpp"

namespace perdure::network {

class EndpointCore : private WireEvents {
 public:
  EndpointCore(std::unique_ptr<Wire> wire, const EndpointOptions& options, Handlers handlers);
  ~EndpointCore() override;
  base::Status start();

  Bytes address() const { return encode(self_); }
  base::Result<PeerId> connect(ConstByteSpan address, std::uint64_t timeout_ns);
  base::Status introduce(ConstByteSpan address, std::uint64_t within_ns);
  std::optional<PeerId> peer_at(ConstByteSpan address) const;
  void disconnect(PeerId id) noexcept;
  base::Result<PeerPointer> find(PeerId id) const;
  base::Result<Bytes> call(PeerId id, ConstByteSpan request, std::uint64_t timeout_ns);
  base::Status begin_call(PeerId id, ConstByteSpan request, std::uint64_t timeout_ns,
                          std::function<void(base::Result<Bytes>)> then);
  base::Result<RemoteMemory> expose(ByteSpan memory, Access access, const std::optional<FileHint>& file);
  void withdraw(const RemoteMemory& memory);
  base::Status read_many(PeerId id, std::span<const ReadPiece> pieces, std::uint64_t timeout_ns);
  base::Status write(PeerId id, const RemoteMemory& memory, std::uint64_t offset, ConstByteSpan source,
                     std::uint64_t timeout_ns);
  std::optional<View> view(PeerId id, const RemoteMemory& memory);
  EndpointStatistics statistics() const;

 private:
  using Visit = Visits::Visit;
  /// One wire transfer of a read or write that may need many.
  struct Part {
    const WireMemory* memory = nullptr;
    std::uint64_t offset = 0;
    ByteSpan target;       // reads
    ConstByteSpan source;  // writes
    std::size_t bytes = 0;
    unsigned tries = 0;
  };
  struct Flight {
    std::shared_ptr<Transfer> transfer;
    Part part;
  };

  // receiving: the wire's thread
  void on_message(ConstByteSpan bytes) override;
  void on_transfer(std::uint64_t token, base::Status status) override;
  void on_send_failed(WirePeer wire, const base::Error& error) override;
  void receive_introduction(const Body& body);
  bool answer_again(const Body& body);  // locked by the caller
  void receive(const PeerPointer& peer, const Body& body);
  void receive_fragment(const PeerPointer& peer, const Fragment& fragment);
  void count_malformed(ConstByteSpan bytes);

  // the sessions
  std::vector<PeerPointer> establish(Established session);  // locked by the caller
  PeerPointer first_peer() const;
  std::vector<PeerPointer> peers() const;
  void lose(const PeerPointer& peer, const base::Error& why, bool tell);
  void finish_loss(const PeerPointer& peer, const base::Error& why, bool tell) noexcept;
  base::Error connect_failure(const Address& remote, bool refused) const;

  // sending: with the peer's lock, unless the body points nowhere
  void send(Peer& peer, const Body& body);
  void send_all(Peer& peer, const Outbox& out);
  base::Status check_request(ConstByteSpan request) const;
  void serve(const PeerPointer& peer, CallId id, const Bytes& request);
  CallEnds take_lost_calls();
  static void tell(CallEnds ended);

  // reads and writes
  void split(Part whole, std::deque<Part>& parts) const;
  base::Status run(const PeerPointer& peer, std::deque<Part> parts, bool write, std::uint64_t timeout_ns);
  base::Status launch(const PeerPointer& peer, Part part, bool write, std::deque<Flight>& flights);
  base::Status land(const PeerPointer& peer, Flight flight, bool write, std::deque<Part>& parts);
  base::Result<WireBufferPointer> take_buffer();

  // the clock's thread
  std::uint64_t tick(std::uint64_t now_ns);
  void guard(const PeerPointer& peer);
  std::uint64_t suspect(const PeerPointer& peer, std::uint64_t now_ns);

  std::unique_ptr<Wire> wire_;
  const EndpointOptions options_;
  const Handlers handlers_;
  const Address self_;
  Clock clock_;
  ServicePool pool_;
  Views views_;

  Visits visits_;
  TransferTable transfers_;
  Received received_;
  struct ForClock {
    std::uint64_t next_guard_ns = 0;     // the guard's own
    base::Guarded<CallEnds> lost_calls;  // of lost peers; the clock's thread tells
  };
  ForClock for_clock_;

  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable connections_changed_;
  Handshakes handshakes_;
  PeerTable peers_;
};

}  // namespace perdure::network
