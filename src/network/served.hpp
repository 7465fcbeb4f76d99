#pragma once
// Keeps the server's half of a session: incoming requests, running ones, and their replies until the caller has them. A
// request is handed out once, however often its messages come. Pure; the peer's lock guards it.
#include <map>
#include <optional>

#include "network/calls.hpp"

namespace perdure::network {

class ServedTable {
 public:
  explicit ServedTable(const CallLimits& limits) : limits_(limits) {}
  /// Returns the whole request if this fragment completes it: the only time that it is handed out.
  std::optional<Bytes> on_request(const Fragment& fragment, Outbox& out);
  void on_ack(const Ack& ack, Outbox& out);
  /// Takes the handler's reply; ignored if the caller has gone on.
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
