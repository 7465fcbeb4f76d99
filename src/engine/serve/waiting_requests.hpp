#pragma once
// Queues requests that could not be answered yet: in order of arrival, with their deadlines.
#include <deque>
#include <memory>

#include "engine/serve/serve_context.hpp"
#include "engine/serve/wait_reasons.hpp"
#include "ipc/messages.hpp"

namespace perdure::engine {

struct Asked {
  ClientId client = 0;
  bool first = false;      ///< it has just arrived
  bool timed_out = false;  ///< it is asked for the last time, so it must be answered
  bool behind = false;     ///< others wait for their turn before it; if it is asked all the same, it wished so
};

/// The properties in which waiting requests differ.
struct WaitTraits {
  bool in_turn = false;    ///< first come, first served: no request overtakes the first of these
  bool for_flush = false;  ///< flushes are not held back while it waits
};

/// A request in the queue, as needed to explain why it waits.
struct Queued {
  ClientId client = 0;
  std::optional<std::uint32_t> head;  ///< the rank of the first request that waits in turn, unless it is this one
};

class HeldRequest {
 public:
  HeldRequest(std::uint8_t operation, const char* name) : operation_(operation), name_(name) {}
  virtual ~HeldRequest() = default;
  HeldRequest(const HeldRequest&) = delete;
  HeldRequest& operator=(const HeldRequest&) = delete;
  const char* name() const { return name_; }
  /// Returns the message if it is an M, else nullptr.
  template <class M>
  const M* as() const {
    return operation_ == ipc::kOperation<M> ? static_cast<const M*>(content()) : nullptr;
  }
  virtual WaitTraits traits() const = 0;
  /// True if there is an answer, for append_answer().
  virtual bool answer(ServeContext& context, const Asked& asked) = 0;
  virtual void append_answer(std::uint64_t sequence, std::vector<std::byte>& out) const = 0;
  virtual void refuse(std::uint64_t sequence, const base::Error& error, std::vector<std::byte>& out) const = 0;
  virtual WaitReason why(NodeState& ledger, const Queued& who) const = 0;
  virtual std::uint64_t again_ns(ServeContext&) const { return 0; }  ///< when to look again; 0: when woken
  virtual void waited(ServeContext&, double) const {}

 private:
  virtual const void* content() const = 0;
  std::uint8_t operation_;
  const char* name_;
};

class WaitingRequests {
 public:
  struct Entry {
    ClientId client = 0;
    std::uint64_t sequence = 0;
    std::uint64_t deadline_ns = 0;  ///< 0: none
    std::uint64_t since_ns = 0;
    std::unique_ptr<HeldRequest> request;
  };
  /// `timeout_ns` 0: it waits for ever.
  void add(ClientId client, std::uint64_t sequence, std::uint64_t timeout_ns, std::unique_ptr<HeldRequest> request);
  /// Asks those again whose turn it is, and sends the answers.
  void reconsider(ServeContext& context);
  /// Refuses the client's requests that are an M for which which(message) holds.
  template <class M, class Which>
  void refuse(ServeContext& context, ClientId client, Which which, const base::Error& error) {
    refuse_if(
        context,
        [&](const Entry& entry) {
          const M* message = entry.client == client ? entry.request->as<M>() : nullptr;
          return message != nullptr && which(*message);
        },
        error);
  }
  void client_gone(ClientId client);
  /// Returns the next time at which a deadline ends or something has to be looked at again; 0: never.
  std::uint64_t next_look_ns(ServeContext& context) const;
  const std::deque<Entry>& entries() const { return entries_; }
  std::size_t in_turn() const { return in_turn_; }  ///< number of requests that wait for their turn
  bool for_flush() const;

 private:
  void refuse_if(ServeContext& context, const std::function<bool(const Entry&)>& which, const base::Error& error);
  std::deque<Entry>::iterator erase(std::deque<Entry>::iterator it);
  Entry take(std::deque<Entry>::iterator& it);
  void excuse_suspension(std::uint64_t now_ns);

  std::deque<Entry> entries_;
  std::size_t in_turn_ = 0;
  std::uint64_t looked_ns_ = 0;  // time of the last look
};

}  // namespace perdure::engine
