#pragma once
// Implements put and get through rings of send and receive buffers that are registered once, as in the papers' libNAM.
// put() copies the data into the ring and returns; the server reads it from there. get() receives into the ring, where
// the caller reads it in place. A notification says that a transfer is over; returning it frees its buffer. Both rings
// are bounded, which is the flow control: a client that puts faster than the server reads waits for a buffer.
#include <condition_variable>
#include <deque>
#include <mutex>

#include "os/thread.hpp"
#include "parity/client.hpp"

namespace perdure::parity {

struct ChannelOptions {
  unsigned slots = 8;                   ///< of each ring
  std::size_t slot_bytes = 1U << 20;    ///< most of one put or get
  unsigned under_way = 2;               ///< transfers of each direction at once
  std::size_t inline_bytes = 4U << 10;  ///< a put of up to so many bytes travels with its request
};

/// A transfer that is over.
struct Notification {
  std::uint64_t ticket = 0;
  base::Status status;
  ConstByteSpan data;  ///< of a get: valid until it is freed
};

/// Thread-safe. Its client must outlive it. Transfers of different tickets are unordered.
class Channel {
 public:
  static base::Result<std::unique_ptr<Channel>> open(Client& client, const ChannelOptions& options = {});
  ~Channel();  ///< waits for transfers in flight
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Copies `source`, at most a slot; returns the put's ticket. PERDURE_TIMEOUT: no slot became free in time, so the
  /// caller has to take and free notifications.
  base::Result<std::uint64_t> put(const PoolMemory& memory, std::uint64_t offset, ConstByteSpan source,
                                  std::uint64_t timeout_ns);
  base::Result<std::uint64_t> get(const PoolMemory& memory, std::uint64_t offset, std::size_t bytes,
                                  std::uint64_t timeout_ns);
  /// Waits until the transfer is over. PERDURE_NOT_FOUND: no such ticket, or freed. PERDURE_TIMEOUT: not over yet.
  base::Result<Notification> wait(std::uint64_t ticket, std::uint64_t timeout_ns);
  /// Frees the buffer of a transfer that is over.
  void free(std::uint64_t ticket);
  unsigned slots_free() const;  ///< of both rings

 private:
  enum class State { free, waiting, under_way, over };
  struct Slot {
    State state = State::free;
    std::uint64_t ticket = 0;
    PoolMemory memory;
    std::uint64_t offset = 0;
    std::size_t bytes = 0;
    base::Status status;
  };
  struct Ring {
    Bytes memory;
    std::optional<network::RemoteMemory> exposed;  ///< of the send ring
    std::vector<Slot> slots;
    std::deque<std::size_t> waiting;
  };

  Channel(Client& client, const ChannelOptions& options);
  base::Result<std::size_t> take_slot(std::unique_lock<std::mutex>& lock, Ring& ring, std::uint64_t timeout_ns);
  std::uint64_t launch(Ring& ring, std::size_t slot, const PoolMemory& memory, std::uint64_t offset, std::size_t bytes);
  Slot* find(std::uint64_t ticket, Ring** ring);
  ByteSpan buffer_of(Ring& ring, std::size_t slot, std::size_t bytes) const;
  base::Status begin(Ring& ring, bool sends);
  void work(Ring& ring, bool sends);
  base::Status transfer(Ring& ring, std::size_t slot, bool sends);

  Client& client_;
  const ChannelOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool closing_ = false;
  bool doubtful_ = false;  // the server may still read data of a put
  std::uint64_t next_ticket_ = 1;
  Ring send_, receive_;
  os::Threads threads_;
};

}  // namespace perdure::parity
