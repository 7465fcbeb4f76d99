#pragma once
// Authenticates two endpoints to each other with four messages, which the initiator repeats until answered.
//
//   initiator                      responder
//   Hello   nonce a, proof  ---->  the proof holds? else dropped, counted, named
//           <----  Welcome nonce b, proof over a and b      (the responder is believed)
//   Proof   over a and b    ---->                           (the initiator is believed: the session stands here)
//           <----  Ready   proof over a and b               (the session stands there)
//
// A peer without the key cannot make this endpoint answer, connect anywhere or remember anything. If two connect to
// each other at the same time, the attempt of the lower incarnation goes on. Not thread-safe; it sends, and reports
// events.
#include <deque>
#include <map>
#include <optional>

#include "network/proof.hpp"

namespace perdure::network {

/// A session that stands now.
struct Established {
  Address remote;
  WirePeer wire = 0;
  std::uint64_t expects = 0;  ///< session number of messages that we receive
  std::uint64_t says = 0;     ///< session number of messages that we send
  Nonce nonce{};              ///< the initiator's
  Bytes ready;                ///< responder: the answer to a repeated proof
};

class Handshakes {
 public:
  struct Limits {
    std::uint64_t retry_ns = 0;
    std::uint64_t max_retry_ns = 0;
    std::size_t half_open = 64;  ///< initiators with the key whose freshness is not proved yet
  };
  Handshakes(Wire& wire, const JobKey& key, Address self, const Limits& limits);

  /// Begins an attempt, unless there is one. It ends by itself at the latest `until_ns` of all callers.
  base::Status begin(const Address& remote, std::uint64_t now_ns, std::uint64_t until_ns);
  bool trying(std::uint64_t incarnation) const { return attempts_.contains(incarnation); }
  /// Whether the other side said that it is another incarnation.
  bool refused(std::uint64_t incarnation) const;
  void give_up(std::uint64_t incarnation);
  /// A session with it stands: its other attempts are void, lest a late proof replaces that session.
  void settle(std::uint64_t incarnation);
  /// Handles the first five kinds of messages. An error names an unauthenticated peer.
  base::Result<std::optional<Established>> on_message(const Body& body, std::uint64_t now_ns);
  /// Repeats due messages, and ends expired attempts; returns when to come back.
  std::uint64_t tick(std::uint64_t now_ns);
  std::size_t half_open() const { return half_open_.size(); }

 private:
  using Outcome = base::Result<std::optional<Established>>;
  struct Attempt {
    Introduction introduction;
    Address remote;
    WirePeer wire = 0;
    Bytes message;  // to be repeated
    bool welcomed = false;
    bool refused = false;
    std::uint64_t pause_ns = 0;
    std::uint64_t next_ns = 0;
    std::uint64_t until_ns = 0;
  };
  struct HalfOpen {
    Introduction introduction;
    WirePeer wire = 0;
  };
  Outcome on(const Hello& hello, std::uint64_t now_ns);
  Outcome on(const Welcome& welcome, std::uint64_t now_ns);
  Outcome on(const Proof& proof, std::uint64_t now_ns);
  Outcome on(const Ready& ready, std::uint64_t now_ns);
  Outcome on(const Refuse& refuse, std::uint64_t now_ns);
  template <class Other>
  Outcome on(const Other&, std::uint64_t) {
    return std::optional<Established>{};
  }
  Attempt* find_attempt(const Nonce& nonce);
  base::Status refuse(const Introduction& introduction);
  bool own_attempt_goes_first(std::uint64_t incarnation) const;
  void drop_oldest_half_open();

  Wire& wire_;
  const JobKey& key_;
  const Address self_;
  const Limits limits_;
  std::map<std::uint64_t, Attempt> attempts_;  // by the intended incarnation
  std::map<Nonce, HalfOpen> half_open_;        // by the initiator's nonce
  std::deque<Nonce> by_age_;                   // of half_open_, oldest first
};

}  // namespace perdure::network
