#pragma once
// Defines the messages of endpoints, one message of the wire each. Everything received is checked here before it has an
// effect: checksum, kind, every length.
//
//   checksum u64 (XXH3 of all that follows) | magic u32 | format u8 | kind u8 | 0 u16 | session u64 | fields of the
//   kind
#include <array>
#include <variant>

#include "network/address.hpp"

namespace perdure::network {

using Nonce = std::array<std::byte, 16>;
using Mac = std::array<std::byte, 32>;

// ---- introductions; session is 0 ----------------------------------------------------------------------------------
/// First message of an initiator. The proof covers its content, so that a peer without the key causes no work.
struct Hello {
  Bytes from;            ///< encoded Address of the initiator
  std::uint64_t to = 0;  ///< the incarnation that it means
  Nonce nonce{};         ///< fresh, the initiator's
  Mac proof{};
};
struct Welcome {
  Nonce initiator{};
  Nonce responder{};  ///< fresh
  Mac proof{};
};
struct Proof {
  Nonce initiator{};
  Nonce responder{};
  Mac proof{};
};
/// The responder believes the initiator: the session stands.
struct Ready {
  Nonce initiator{};
  Mac proof{};
};
/// An initiator with the key meant another incarnation.
struct Refuse {
  Nonce initiator{};
  Mac proof{};
};

// ---- within a session; `session` is the number that the receiver expects ------------------------------------------
/// Every call occupies one of the session's slots. A higher sequence in a slot means that the call before is over.
struct CallId {
  std::uint16_t slot = 0;
  std::uint64_t sequence = 0;
  friend bool operator==(const CallId&, const CallId&) = default;
};
/// Fragment `index` of a request or reply of `total` bytes. All fragments but the last have `fragment_bytes`.
struct Fragment {
  CallId call;
  bool reply = false;
  std::uint32_t total = 0;
  std::uint32_t fragment_bytes = 0;
  std::uint32_t index = 0;
  ConstByteSpan payload;  ///< points into the decoded message
};
/// The fragments that have come: all below `first_missing`, and those of `later` (bit i: first_missing + 1 + i).
struct Ack {
  CallId call;
  bool reply = false;  ///< about the reply
  bool probe = false;  ///< asks for missing fragments
  std::uint32_t first_missing = 0;
  std::uint64_t later = 0;
};
struct Ping {};
struct Pong {};
/// The memory is not exposed any more.
struct Withdrawn {
  std::uint64_t key = 0;
};
/// The peer ends in order.
struct Goodbye {};

using Body = std::variant<Hello, Welcome, Proof, Ready, Refuse, Fragment, Ack, Ping, Pong, Withdrawn, Goodbye>;
struct Message {
  std::uint64_t session = 0;
  Body body;
};

inline constexpr std::size_t kFragmentOverhead = 24 + 10 + 1 + 12;
inline constexpr std::uint32_t kMinFragment = 256;

Bytes encode(const Message& message);
/// Fails with PERDURE_CORRUPT if a part is missing, too long or out of range. The payload points into `bytes`.
base::Result<Message> decode_message(ConstByteSpan bytes);

}  // namespace perdure::network
