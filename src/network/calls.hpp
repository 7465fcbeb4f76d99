#pragma once
// Keeps the caller's half of a session: calls in flight, each in its own slot. All timers of a call are the caller's,
// so the other side keeps none. Pure except for the condition that callers wait on; the peer's lock guards it.
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "network/transfer.hpp"

namespace perdure::network {

struct CallLimits {
  unsigned calls = 16;              ///< in flight at once
  std::uint64_t bytes = 64U << 20;  ///< of requests in flight at once; a single one may be longer
  std::uint32_t fragment_bytes = 0;
  std::uint64_t max_message_bytes = 16U << 20;
  std::uint64_t retry_ns = 0;      ///< first repetition
  std::uint64_t max_retry_ns = 0;  ///< the pause doubles up to this
};

/// Hears the outcome of a call without a waiting caller. It is made with the call, so that reporting needs no memory.
struct CallEnd {
  std::function<void(base::Result<Bytes>)> then;
  std::uint64_t deadline_ns = 0;
  base::Result<Bytes> outcome = {};
  std::unique_ptr<CallEnd> next = nullptr;
};

/// Outcomes to report, first come, first told.
class CallEnds {
 public:
  CallEnds() = default;
  CallEnds(CallEnds&& other) noexcept : first_(std::move(other.first_)), last_(other.last_) { other.last_ = nullptr; }
  CallEnds& operator=(CallEnds&&) = delete;
  ~CallEnds() {
    while (pop()) continue;  // one by one: the list may be longer than the stack is deep
  }
  void add(std::unique_ptr<CallEnd> one) {
    CallEnd* const added = one.get();
    (first_ == nullptr ? first_ : last_->next) = std::move(one);
    last_ = added;
  }
  void add(CallEnds&& more) {
    while (auto one = more.pop()) add(std::move(one));
  }
  bool empty() const { return first_ == nullptr; }
  CallEnds take() { return std::move(*this); }
  std::unique_ptr<CallEnd> pop() {
    auto one = std::move(first_);
    if (one) first_ = std::move(one->next);
    return one;
  }

 private:
  std::unique_ptr<CallEnd> first_;
  CallEnd* last_ = nullptr;
};

struct Call {
  Call(CallId call_id, Bytes request_bytes, std::uint32_t fragment_bytes)
      : id(call_id), request(std::move(request_bytes), fragment_bytes) {}
  CallId id;
  Outgoing request;
  std::optional<Incoming> reply;
  std::uint64_t pause_ns = 0;
  std::uint64_t next_ns = 0;  ///< when to ask again
  bool done = false;          ///< `outcome` is set
  bool abandoned = false;     ///< its caller has given up; the slot is free when the other side is done with it
  base::Result<Bytes> outcome;
  std::condition_variable changed;
  std::unique_ptr<CallEnd> end_of_call;  ///< in place of a waiting caller; until it is to be told
};

/// Messages to send, in order.
using Outbox = std::vector<Body>;

class CallTable {
 public:
  explicit CallTable(const CallLimits& limits) : limits_(limits) {}
  bool has_room(std::size_t request_bytes) const;
  /// Begins a call, for which there must be room. Messages in `out`, here and below, point into calls: send them before
  /// anything else happens.
  std::shared_ptr<Call> begin(Bytes request, std::uint64_t now_ns, Outbox& out,
                              std::unique_ptr<CallEnd> end_of_call = nullptr);
  /// The caller has its outcome, or waits no longer.
  void leave(const std::shared_ptr<Call>& call);
  void on_ack(const Ack& ack, std::uint64_t now_ns, Outbox& out);
  void on_reply(const Fragment& fragment, std::uint64_t now_ns, Outbox& out);
  /// Repeats due messages and counts them in `repeated`; returns when to come back (~0: no call).
  std::uint64_t tick(std::uint64_t now_ns, Outbox& out, std::uint64_t& repeated);
  void fail_all(const base::Error& error);  ///< needs no memory
  /// Returns the ended calls, to be told without the peer's lock.
  CallEnds take_ended() { return ended_.take(); }
  std::size_t under_way() const { return calls_.size(); }

 private:
  std::shared_ptr<Call> find(CallId id) const;
  void finish(const std::shared_ptr<Call>& call, base::Result<Bytes> outcome);
  void tell(Call& call, base::Result<Bytes> outcome);
  void remove(const Call& call);
  void restart_timer(Call& call, std::uint64_t now_ns) const;

  CallLimits limits_;
  std::map<std::uint16_t, std::shared_ptr<Call>> calls_;  // by slot
  std::vector<std::uint64_t> sequences_;                  // last one used, by slot
  std::uint64_t bytes_ = 0;
  CallEnds ended_;
};

}  // namespace perdure::network
