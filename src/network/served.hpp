#pragma once
// The other half of a session: requests that are coming, being carried out, and their replies until the caller has
// them. A request is handed out once, however often its messages come. Pure; guarded by the peer's lock.
#include <map>
#include <optional>

#include "network/calls.hpp"

namespace perdure::network {

class ServedTable {
 public:
  explicit ServedTable(const CallLimits& limits) : limits_(limits) {}
  /// A whole request, when this fragment completes it: the only time that it is given out.
  std::optional<Bytes> on_request(const Fragment& fragment, Outbox& out);
  void on_ack(const Ack& ack, Outbox& out);
  /// What the handler gave. Ignored when the caller has gone on.
  void answer(CallId id, Bytes reply, Outbox& out);
  std::uint64_t refused() const { return refused_; }  ///< messages beyond the limits

 private:
  enum class State { coming, running, replied, finished };
  struct Slot {
    std::uint64_t sequence = 0;
    State state = State::finished;
    std::optional<Incoming> request;
    std::optional<Outgoing> reply;
  };
  bool accept(const Fragment& fragment, Slot& slot);
  void send_reply(CallId id, Slot& slot, bool again, Outbox& out) const;
  std::uint64_t bytes_coming() const;

  CallLimits limits_;
  std::map<std::uint16_t, Slot> slots_;
  std::uint64_t refused_ = 0;
};

}  // namespace perdure::network
