#pragma once
// How two endpoints authenticate each other: four messages, repeated by the initiator until answered.
//
//   initiator                      responder
//   Hello   nonce a, proof  ---->  the proof holds? else dropped, counted, named
//           <----  Welcome nonce b, proof over a and b      (the responder is believed)
//   Proof   over a and b    ---->                           (the initiator is believed: the session stands here)
//           <----  Ready   proof over a and b               (the session stands there)
//
// A peer without the key cannot make this endpoint answer, connect anywhere or remember anything. When two connect to
// each other at the same time, the attempt of the lower incarnation goes on. Not thread-safe; sends, and reports what
// happened.
#include <deque>
#include <map>
#include <optional>

#include "network/proof.hpp"

namespace perdure::network {

/// A session that stands now.
struct Established {
  Address remote;
  WirePeer wire = 0;
  std::uint64_t expects = 0;  ///< session number of what we receive
  std::uint64_t says = 0;     ///< of what we send
  Nonce nonce{};              ///< the initiator's
  Bytes ready;                ///< responder: what to answer when the proof comes again
};

class Handshakes {
 public:
  struct Limits {
    std::uint64_t retry_ns = 0;
    std::uint64_t max_retry_ns = 0;
    std::size_t half_open = 64;  ///< initiators with the key that have not proved themselves fresh yet
  };
  Handshakes(Wire& wire, const JobKey& key, Address self, const Limits& limits);

  /// Begins an attempt, unless there is one. It ends by itself at `until_ns`, the latest of all that were said.
  base::Status begin(const Address& remote, std::uint64_t now_ns, std::uint64_t until_ns);
  bool trying(std::uint64_t incarnation) const { return attempts_.contains(incarnation); }
  /// The other side said that it is another incarnation.
  bool refused(std::uint64_t incarnation) const;
  void give_up(std::uint64_t incarnation);
  /// A session with it stands: what else it began is void, lest a late proof replaces that session.
  void settle(std::uint64_t incarnation);
  /// Handles the first five kinds of messages. An error names a peer that is not authenticated.
  base::Result<std::optional<Established>> on_message(const Body& body, std::uint64_t now_ns);
  /// Sends again where it is time, and ends attempts whose time is up; when to come back.
  std::uint64_t tick(std::uint64_t now_ns);
  std::size_t half_open() const { return half_open_.size(); }

 private:
  using Outcome = base::Result<std::optional<Established>>;
  struct Attempt {
    Introduction introduction;
    Address remote;
    WirePeer wire = 0;
    Bytes message;  // what is repeated
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
  std::map<std::uint64_t, Attempt> attempts_;  // by the incarnation that is meant
  std::map<Nonce, HalfOpen> half_open_;        // by the initiator's nonce
  std::deque<Nonce> by_age_;                   // of those, oldest first
};

}  // namespace perdure::network
