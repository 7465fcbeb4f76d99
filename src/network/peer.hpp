#pragma once
// One session with another engine, as long as it stands.
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

  std::mutex mutex;              // guards what follows, up to the empty line
  std::condition_variable room;  // for calls or transfers, or the peer is lost, or a transfer ended
  CallTable calls;
  ServedTable served;
  unsigned transfers = 0;  // that the wire has not reported
  std::optional<base::Error> lost;

  // All that the guard asks of the data path: one store.
  std::atomic<bool> heard{true};
  std::atomic<bool> suspected{false};  // the wire could not send to it, and nothing was heard since
  std::atomic<bool> failed{false};     // the wire could not send to it since the last look
  unsigned silent = 0;                 // intervals; this and the next two are the clock's
  unsigned strikes = 0;                // looks at which it had failed again
  std::uint64_t next_look_ns = 0;
  PeerCounters counters;
};
using PeerPointer = std::shared_ptr<Peer>;

/// A piece of a read or a write on its way. Guarded by the peer's lock.
struct Transfer {
  PeerPointer peer;
  WireBufferPointer buffer;
  bool done = false;
  base::Status status;
};

}  // namespace perdure::network
