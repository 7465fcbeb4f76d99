#pragma once
// A table has the handler of each message (ipc/messages.hpp), a function in the family's file. The kind of the message
// decides when it is answered: never, at once, later, or by a thread.
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <variant>

#include "engine/serve/serve_context.hpp"
#include "engine/serve/wait_reasons.hpp"
#include "engine/serve/waiting_requests.hpp"
#include "ipc/messages.hpp"

namespace perdure::engine {

/// M::Reply, or Done for a message without one. (clang 14 looks M::Reply up before it checks constraints.)
template <class M>
struct ReplyType {
  using Type = ipc::Done;
};
template <ipc::Answered M>
struct ReplyType<M> {
  using Type = typename M::Reply;
};
template <class M>
using ReplyOf = typename ReplyType<M>::Type;

/// nullopt: not yet.
template <class M>
using Answer = std::optional<base::Result<ReplyOf<M>>>;

/// The functions that answer a request that may wait.
template <class M>
struct Waiter {
  Answer<M> (*answer)(ServeContext& context, const Asked& asked, const M& message);
  WaitReason (*why)(NodeState& ledger, const Queued& who, const M& message);
  WaitTraits traits = {};
  /// Returns when to look again, if nobody wakes the server; nullptr: somebody does.
  std::uint64_t (*again_ns)(ServeContext& context, const M& message) = nullptr;
  /// called when it was answered after it had to wait
  void (*waited)(ServeContext& context, double seconds) = nullptr;
  /// Notes its arrival, for what others have to know even before its turn. nullptr: nothing is noted.
  void (*arrived)(ServeContext& context, ClientId client, const M& message) = nullptr;
  bool (*at_once)(const M& message) = nullptr;  ///< true: it is answered when it arrives; nullptr: never
};

/// The functions for a request that needs other nodes. It is answered at once, or by a job on a thread, which may take
/// its time and must not touch the context.
template <class M>
struct InBackground {
  using Job = std::function<base::Result<ReplyOf<M>>()>;
  std::variant<base::Result<ReplyOf<M>>, Job> (*begin)(ServeContext& context, ClientId client, const M& message);
  WaitReason (*why)(const M& message);
};

class Handlers {
 public:
  /// Enrols the handlers of all families.
  Handlers();

  template <ipc::OneWay M>
  void on(void (*handle)(ServeContext&, ClientId, const M&)) {
    take_[ipc::kOperation<M>] = [handle](ServeContext& context, const Request& request) {
      const auto message = ipc::decode_request<M>(request.fields);
      if (!message) return refuse_malformed(context, request.client, message.error());
      handle(context, request.client, *message);
    };
  }
  template <ipc::Answered M>
  void on(base::Result<ReplyOf<M>> (*handle)(ServeContext&, ClientId, const M&)) {
    static_assert(M::kKind == ipc::Kind::answered);
    take_[ipc::kOperation<M>] = [handle](ServeContext& context, const Request& request) {
      const auto message = ipc::decode_request<M>(request.fields);
      reply<M>(context, request, message ? handle(context, request.client, *message) : base::fail(message.error()));
    };
  }
  template <ipc::Answered M>
  void on(Waiter<M> waiter) {
    static_assert(M::kKind == ipc::Kind::may_wait);
    take_[ipc::kOperation<M>] = [waiter](ServeContext& context, const Request& request) {
      auto message = ipc::decode_request<M>(request.fields);
      if (!message) return reply<M>(context, request, base::fail(message.error()));
      if (waiter.arrived != nullptr) waiter.arrived(context, request.client, *message);
      const bool behind = waiter.traits.in_turn && context.waiting.in_turn() > 0;
      if (!behind || (waiter.at_once != nullptr && waiter.at_once(*message)))
        if (const auto answer = waiter.answer(context, {request.client, true, false, behind}, *message))
          return reply<M>(context, request, *answer);
      hold<M>(context, request, std::make_unique<HeldWaiter<M>>(std::move(*message), waiter));
    };
  }
  template <ipc::Answered M>
  void on(InBackground<M> handler) {
    static_assert(M::kKind == ipc::Kind::may_wait);
    take_[ipc::kOperation<M>] = [handler](ServeContext& context, const Request& request) {
      auto message = ipc::decode_request<M>(request.fields);
      if (!message) return reply<M>(context, request, base::fail(message.error()));
      auto begun = handler.begin(context, request.client, *message);
      if (const auto* answer = std::get_if<base::Result<ReplyOf<M>>>(&begun))
        return reply<M>(context, request, *answer);
      auto outcome = std::make_shared<typename HeldJob<M>::Outcome>();
      const auto started = context.background.start(
          [outcome, job = std::move(std::get<typename InBackground<M>::Job>(begun))] { outcome->set(job()); },
          [outcome](const base::Error& why) { outcome->set(base::fail(why)); });
      if (!started) return reply<M>(context, request, base::fail(started.error()));
      hold<M>(context, request, std::make_unique<HeldJob<M>>(std::move(*message), handler.why, std::move(outcome)));
    };
  }

  bool has(std::uint8_t operation) const { return static_cast<bool>(take_[operation]); }
  /// Takes the payload of a client's frame: calls its handler and sends the reply, or holds the request until it can be
  /// answered.
  void take(ServeContext& context, ClientId client, base::ConstByteSpan payload) const;

 private:
  struct Request {
    ClientId client = 0;
    std::uint64_t sequence = 0;
    base::ConstByteSpan fields;
  };
  template <class M>
  static void reply(ServeContext& context, const Request& request, const base::Result<ReplyOf<M>>& result) {
    context.connections.send(request.client,
                             [&](std::vector<std::byte>& out) { ipc::append_reply(out, request.sequence, result); });
  }
  template <class M>
  static void hold(ServeContext& context, const Request& request, std::unique_ptr<HeldRequest> held) {
    std::uint64_t timeout_ns = 0;
    if constexpr (ipc::HasTimeout<M>) timeout_ns = static_cast<const Held<M>&>(*held).message().timeout_ns;
    context.waiting.add(request.client, request.sequence, timeout_ns, std::move(held));
  }
  static void refuse_malformed(ServeContext& context, ClientId client, const base::Error& error);

  /// A request of one kind that waits.
  template <class M>
  class Held : public HeldRequest {
   public:
    explicit Held(M message) : HeldRequest(ipc::kOperation<M>, M::kName), message_(std::move(message)) {}
    const void* content() const override { return &message_; }
    const M& message() const { return message_; }
    void refuse(std::uint64_t sequence, const base::Error& error, std::vector<std::byte>& out) const override {
      ipc::append_reply(out, sequence, base::Result<ReplyOf<M>>(base::fail(error)));
    }

   private:
    M message_;
  };
  template <class M>
  class HeldWaiter final : public Held<M> {
   public:
    HeldWaiter(M message, const Waiter<M>& waiter) : Held<M>(std::move(message)), waiter_(waiter) {}
    WaitTraits traits() const override { return waiter_.traits; }
    bool answer(ServeContext& context, const Asked& asked) override {
      answer_ = waiter_.answer(context, asked, this->message());
      return answer_.has_value();
    }
    void append_answer(std::uint64_t sequence, std::vector<std::byte>& out) const override {
      ipc::append_reply(out, sequence, *answer_);
    }
    WaitReason why(NodeState& ledger, const Queued& who) const override {
      return waiter_.why(ledger, who, this->message());
    }
    std::uint64_t again_ns(ServeContext& context) const override {
      return waiter_.again_ns == nullptr ? 0 : waiter_.again_ns(context, this->message());
    }
    void waited(ServeContext& context, double seconds) const override {
      if (waiter_.waited != nullptr) waiter_.waited(context, seconds);
    }

   private:
    Waiter<M> waiter_;
    Answer<M> answer_;
  };
  template <class M>
  class HeldJob final : public Held<M> {
   public:
    class Outcome {
     public:
      void set(base::Result<ReplyOf<M>> result) {
        result_ = std::move(result);
        over_ = true;
      }
      const base::Result<ReplyOf<M>>* get() const { return over_ ? &*result_ : nullptr; }

     private:
      Answer<M> result_;
      std::atomic<bool> over_ = false;
    };
    HeldJob(M message, WaitReason (*reason)(const M&), std::shared_ptr<Outcome> outcome)
        : Held<M>(std::move(message)), why_(reason), outcome_(std::move(outcome)) {}
    WaitTraits traits() const override { return {}; }
    bool answer(ServeContext&, const Asked&) override { return outcome_->get() != nullptr; }
    void append_answer(std::uint64_t sequence, std::vector<std::byte>& out) const override {
      ipc::append_reply(out, sequence, *outcome_->get());
    }
    WaitReason why(NodeState&, const Queued&) const override { return why_(this->message()); }

   private:
    WaitReason (*why_)(const M&);
    std::shared_ptr<Outcome> outcome_;
  };

  std::array<std::function<void(ServeContext&, const Request&)>, ipc::AllMessages::kCount> take_;
};

// Each family has one file.
void enrol_capture_handlers(Handlers& handlers);
void enrol_small_capture_handler(Handlers& handlers);
void enrol_version_handlers(Handlers& handlers);
void enrol_level_handlers(Handlers& handlers);
void enrol_group_handlers(Handlers& handlers);
void enrol_guest_handlers(Handlers& handlers);
void enrol_inspection_handlers(Handlers& handlers);

}  // namespace perdure::engine
