#pragma once
// The caller's half of a session: calls under way, each in a slot of its own. All timers of a call are the caller's, so
// that the other side keeps none. Pure but for the condition that callers wait on; guarded by the peer's lock.
#include <condition_variable>
#include <map>
#include <memory>
#include <optional>

#include "network/transfer.hpp"

namespace perdure::network {

struct CallLimits {
  unsigned calls = 16;              ///< under way at once
  std::uint64_t bytes = 64U << 20;  ///< of requests under way at once; a single one may be longer
  std::uint32_t fragment_bytes = 0;
  std::uint64_t max_message_bytes = 16U << 20;
  std::uint64_t retry_ns = 0;      ///< first repetition
  std::uint64_t max_retry_ns = 0;  ///< the pause doubles up to this
};

struct Call {
  Call(CallId call_id, Bytes request_bytes, std::uint32_t fragment_bytes)
      : id(call_id), request(std::move(request_bytes), fragment_bytes) {}
  CallId id;
  Outgoing request;
  std::optional<Incoming> reply;
  std::uint64_t pause_ns = 0;
  std::uint64_t next_ns = 0;  ///< when to ask again
  bool done = false;          ///< `outcome` is there
  bool abandoned = false;     ///< its caller has given up; the slot is free when the other side is done with it
  base::Result<Bytes> outcome;
  std::condition_variable changed;
};

/// What is to be sent, in order.
using Outbox = std::vector<Body>;

class CallTable {
 public:
  explicit CallTable(const CallLimits& limits) : limits_(limits) {}
  bool has_room(std::size_t request_bytes) const;
  /// Needs room. The messages in `out`, here and below, point into calls: send them before anything else happens.
  std::shared_ptr<Call> begin(Bytes request, std::uint64_t now_ns, Outbox& out);
  /// The caller has its outcome, or waits no longer.
  void leave(const std::shared_ptr<Call>& call);
  void on_ack(const Ack& ack, std::uint64_t now_ns, Outbox& out);
  void on_reply(const Fragment& fragment, std::uint64_t now_ns, Outbox& out);
  /// Asks again where it is time; when to come back (~0: no call). `repeated` counts messages.
  std::uint64_t tick(std::uint64_t now_ns, Outbox& out, std::uint64_t& repeated);
  void fail_all(const base::Error& error);  ///< needs no memory
  std::size_t under_way() const { return calls_.size(); }

 private:
  std::shared_ptr<Call> find(CallId id) const;
  void finish(const std::shared_ptr<Call>& call, base::Result<Bytes> outcome);
  void remove(const Call& call);
  void restart_timer(Call& call, std::uint64_t now_ns) const;

  CallLimits limits_;
  std::map<std::uint16_t, std::shared_ptr<Call>> calls_;  // by slot
  std::vector<std::uint64_t> sequences_;                  // last one used, by slot
  std::uint64_t bytes_ = 0;
};

}  // namespace perdure::network
