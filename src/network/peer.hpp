#pragma once
// A Peer is one session with another engine, as long as it stands.
#include <atomic>
#include <mutex>

#include "network/endpoint.hpp"
#include "network/handshakes.hpp"
#include "network/served.hpp"

namespace perdure::network {

struct PeerCounters {
  std::atomic<std::uint64_t> messages_sent{0}, messages_received{0}, bytes_sent{0}, bytes_received{0}, bytes_read{0},
      bytes_written{0}, bytes_read_locally{0}, retransmissions{0}, pings{0}, dropped{0};
};

struct Peer {
  Peer(PeerId number, Established established, const CallLimits& limits)
      : id(number), session(std::move(established)), name(session.remote.text()), calls(limits), served(limits) {}

  const PeerId id;
  const Established session;
  const std::string name;

  std::mutex mutex;              // guards the members below, up to the empty line
  std::condition_variable room;  // notified when there is room for calls or transfers, the peer is lost, or a transfer
                                 // ended
  CallTable calls;
  ServedTable served;
  unsigned transfers = 0;  // not reported by the wire yet
  std::optional<base::Error> lost;

  // The guard's only cost in the data path is one store.
  std::atomic<bool> heard{true};
  std::atomic<bool> suspected{false};  // the wire could not send to it, and nothing was heard since
  std::atomic<bool> failed{false};     // the wire could not send to it since the last look
  unsigned silent = 0;                 // intervals; only the clock's thread uses this and the next two
  unsigned strikes = 0;                // looks at which it had failed again
  std::uint64_t next_look_ns = 0;
  PeerCounters counters;
};
using PeerPointer = std::shared_ptr<Peer>;

/// A piece of a read or a write in flight. The peer's lock guards it.
struct Transfer {
  PeerPointer peer;
  WireBufferPointer buffer;
  bool done = false;
  base::Status status;
};

}  // namespace perdure::network
