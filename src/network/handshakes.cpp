#include "network/handshakes.hpp"

#include <algorithm>

namespace perdure::network {
namespace {

tl::unexpected<base::Error> unauthenticated(const std::string& who, const char* what) {
  return base::fail(PERDURE_PERMISSION, who, std::string(what) + " without a proof of the job key that holds",
                    "see that all engines of the job have the same key, and who else reaches this address");
}

/// Makes one side's part of a session that both believe.
Established session_of(const JobKey& key, const Introduction& introduction, bool initiator) {
  Established session;
  const std::uint64_t to_initiator = session_number(key, Step::to_initiator, introduction);
  const std::uint64_t to_responder = session_number(key, Step::to_responder, introduction);
  session.expects = initiator ? to_initiator : to_responder;
  session.says = initiator ? to_responder : to_initiator;
  session.nonce = introduction.initiator_nonce;
  return session;
}

}  // namespace

Handshakes::Handshakes(Wire& wire, const JobKey& key, Address self, const Limits& limits)
    : wire_(wire), key_(key), self_(std::move(self)), limits_(limits) {}

base::Status Handshakes::begin(const Address& remote, std::uint64_t now_ns, std::uint64_t until_ns) {
  if (const auto it = attempts_.find(remote.incarnation); it != attempts_.end()) {
    it->second.until_ns = std::max(it->second.until_ns, until_ns);
    return {};
  }
  Attempt attempt;
  attempt.until_ns = until_ns;
  PERDURE_TRY(attempt.wire, wire_.connect(remote.wire));
  attempt.remote = remote;
  attempt.introduction = {self_, remote.incarnation, fresh_nonce(), {}};
  Hello hello{encode(self_), remote.incarnation, attempt.introduction.initiator_nonce,
              prove(key_, Step::hello, attempt.introduction)};
  attempt.message = encode({0, std::move(hello)});
  attempt.pause_ns = limits_.retry_ns;
  attempt.next_ns = now_ns + attempt.pause_ns;
  (void)wire_.send(attempt.wire, attempt.message);  // a lost message is sent again
  attempts_.emplace(remote.incarnation, std::move(attempt));
  return {};
}

bool Handshakes::refused(std::uint64_t incarnation) const {
  const auto it = attempts_.find(incarnation);
  return it != attempts_.end() && it->second.refused;
}

void Handshakes::give_up(std::uint64_t incarnation) {
  const auto it = attempts_.find(incarnation);
  if (it == attempts_.end()) return;
  wire_.forget(it->second.wire);
  attempts_.erase(it);
}

void Handshakes::settle(std::uint64_t incarnation) {
  give_up(incarnation);
  for (auto it = half_open_.begin(); it != half_open_.end();) {
    if (it->second.introduction.initiator.incarnation != incarnation) {
      ++it;
      continue;
    }
    wire_.forget(it->second.wire);
    std::erase(by_age_, it->first);
    it = half_open_.erase(it);
  }
}

Handshakes::Attempt* Handshakes::find_attempt(const Nonce& nonce) {
  for (auto& [incarnation, attempt] : attempts_)
    if (attempt.introduction.initiator_nonce == nonce) return &attempt;
  return nullptr;
}

bool Handshakes::own_attempt_goes_first(std::uint64_t incarnation) const {
  return trying(incarnation) && !refused(incarnation) && self_.incarnation < incarnation;
}

void Handshakes::drop_oldest_half_open() {
  const auto it = half_open_.find(by_age_.front());
  wire_.forget(it->second.wire);
  half_open_.erase(it);
  by_age_.pop_front();
}

Handshakes::Outcome Handshakes::on_message(const Body& body, std::uint64_t now_ns) {
  return std::visit([&](const auto& message) { return on(message, now_ns); }, body);
}

base::Status Handshakes::refuse(const Introduction& introduction) {
  PERDURE_TRY(const WirePeer wire, wire_.connect(introduction.initiator.wire));
  const Refuse answer{introduction.initiator_nonce, prove(key_, Step::refuse, introduction)};
  auto sent = wire_.send(wire, encode({0, answer}));
  wire_.forget(wire);
  return sent;
}

Handshakes::Outcome Handshakes::on(const Hello& hello, std::uint64_t) {
  const auto from = decode_address(hello.from);
  if (!from) return unauthenticated("an engine that gives no address", "it said hello");
  const Introduction introduction{*from, hello.to, hello.nonce, {}};
  if (!proves(hello.proof, key_, Step::hello, introduction)) return unauthenticated(from->text(), "it said hello");
  if (hello.to != self_.incarnation) {
    (void)refuse(introduction);  // best effort, like all messages
    return std::optional<Established>{};
  }
  if (own_attempt_goes_first(from->incarnation)) return std::optional<Established>{};
  auto it = half_open_.find(hello.nonce);
  if (it == half_open_.end()) {
    PERDURE_TRY(const WirePeer wire, wire_.connect(from->wire));
    while (half_open_.size() >= limits_.half_open) drop_oldest_half_open();
    it = half_open_.emplace(hello.nonce, HalfOpen{introduction, wire}).first;
    it->second.introduction.responder_nonce = fresh_nonce();
    by_age_.push_back(hello.nonce);
  }
  const Introduction& known = it->second.introduction;
  const Welcome welcome{known.initiator_nonce, known.responder_nonce, prove(key_, Step::welcome, known)};
  (void)wire_.send(it->second.wire, encode({0, welcome}));
  return std::optional<Established>{};
}

Handshakes::Outcome Handshakes::on(const Welcome& welcome, std::uint64_t now_ns) {
  Attempt* attempt = find_attempt(welcome.initiator);
  if (attempt == nullptr || attempt->welcomed) return std::optional<Established>{};
  Introduction introduction = attempt->introduction;
  introduction.responder_nonce = welcome.responder;
  if (!proves(welcome.proof, key_, Step::welcome, introduction))
    return unauthenticated(attempt->remote.text(), "it answered a hello");
  attempt->introduction = introduction;
  attempt->welcomed = true;
  const Proof proof{introduction.initiator_nonce, introduction.responder_nonce, prove(key_, Step::proof, introduction)};
  attempt->message = encode({0, proof});
  attempt->pause_ns = limits_.retry_ns;
  attempt->next_ns = now_ns + attempt->pause_ns;
  (void)wire_.send(attempt->wire, attempt->message);
  return std::optional<Established>{};
}

Handshakes::Outcome Handshakes::on(const Proof& proof, std::uint64_t) {
  const auto it = half_open_.find(proof.initiator);
  if (it == half_open_.end()) return std::optional<Established>{};
  const Introduction introduction = it->second.introduction;
  if (proof.responder != introduction.responder_nonce || !proves(proof.proof, key_, Step::proof, introduction))
    return unauthenticated(introduction.initiator.text(), "it came back");
  if (own_attempt_goes_first(introduction.initiator.incarnation)) return std::optional<Established>{};
  Established session = session_of(key_, introduction, false);
  session.remote = introduction.initiator;
  session.wire = it->second.wire;
  session.ready = encode({0, Ready{introduction.initiator_nonce, prove(key_, Step::ready, introduction)}});
  std::erase(by_age_, it->first);
  half_open_.erase(it);
  (void)wire_.send(session.wire, session.ready);
  settle(introduction.initiator.incarnation);
  return std::optional(std::move(session));
}

Handshakes::Outcome Handshakes::on(const Ready& ready, std::uint64_t) {
  Attempt* attempt = find_attempt(ready.initiator);
  if (attempt == nullptr || !attempt->welcomed) return std::optional<Established>{};
  if (!proves(ready.proof, key_, Step::ready, attempt->introduction))
    return unauthenticated(attempt->remote.text(), "it answered a proof");
  Established session = session_of(key_, attempt->introduction, true);
  session.remote = attempt->remote;
  session.wire = attempt->wire;
  attempts_.erase(session.remote.incarnation);
  settle(session.remote.incarnation);
  return std::optional(std::move(session));
}

Handshakes::Outcome Handshakes::on(const Refuse& refusal, std::uint64_t) {
  Attempt* attempt = find_attempt(refusal.initiator);
  if (attempt == nullptr) return std::optional<Established>{};
  Introduction introduction = attempt->introduction;
  introduction.responder_nonce = {};
  if (!proves(refusal.proof, key_, Step::refuse, introduction))
    return unauthenticated(attempt->remote.text(), "it refused a hello");
  attempt->refused = true;
  return std::optional<Established>{};
}

std::uint64_t Handshakes::tick(std::uint64_t now_ns) {
  std::uint64_t next = ~std::uint64_t{0};
  for (auto it = attempts_.begin(); it != attempts_.end();) {
    const auto at = it++;
    if (at->second.until_ns <= now_ns) give_up(at->first);
  }
  for (auto& [incarnation, attempt] : attempts_) {
    if (attempt.next_ns <= now_ns) {
      (void)wire_.send(attempt.wire, attempt.message);
      attempt.pause_ns = std::min(2 * attempt.pause_ns, limits_.max_retry_ns);
      attempt.next_ns = now_ns + attempt.pause_ns;
    }
    next = std::min(next, attempt.next_ns);
  }
  return next;
}

}  // namespace perdure::network
