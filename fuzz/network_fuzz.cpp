// Fuzzes input from the network with any bytes: a message as it is (mode 0) or with a valid checksum (1). Also an
// engine's address (2), a name of remote memory (3), and a reply (4). Mode 5 delivers many messages in turn to both
// halves of a session.
#include <algorithm>
#include <cstring>

#include "base/hash.hpp"
#include "network/remote_memory.hpp"
#include "network/reply_codec.hpp"
#include "network/served.hpp"
#include "target.hpp"

namespace perdure::fuzz {
namespace {

using namespace perdure::network;

constexpr std::size_t kChecksum = 8;

Bytes with_checksum(base::ConstByteSpan rest) {
  Bytes bytes(kChecksum);
  const std::uint64_t hash = base::hash64(rest);
  for (std::size_t i = 0; i < kChecksum; ++i) bytes[i] = static_cast<std::byte>(hash >> (8 * i));
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  return bytes;
}

/// An understood message must be equal after it is encoded again.
void judge_message(base::ConstByteSpan bytes) {
  const auto message = decode_message(bytes);
  if (!message) return;
  require(std::ranges::equal(encode(*message), bytes));
}

template <class Decode>
void judge(base::ConstByteSpan bytes, const Decode& decode) {
  const auto value = decode(bytes);
  if (value) require(std::ranges::equal(encode(*value), bytes));
}

CallLimits small_limits() {
  CallLimits limits;
  limits.calls = 4;
  limits.bytes = 1 << 16;
  limits.max_message_bytes = 1 << 15;
  limits.fragment_bytes = kMinFragment;
  limits.retry_ns = limits.max_retry_ns = 1;
  return limits;
}

/// Messages lack their checksums, and each follows its length in one byte. A request is delivered at most once per
/// call.
void run_session(base::ConstByteSpan bytes) {
  CallTable calls(small_limits());
  ServedTable served(small_limits());
  Outbox out;
  // Sends as the endpoint does: outgoing data points into calls, and is sent before the next message is handled.
  const auto send = [&out] {
    for (const Body& body : out) require(decode_message(encode({1, body})).has_value());
    out.clear();
  };
  for (int i = 0; i < 2; ++i) (void)calls.begin(Bytes(1000), 0, out);
  send();
  std::vector<std::pair<std::uint16_t, std::uint64_t>> given;
  std::size_t length = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 1 + length) {
    length = std::min<std::size_t>(std::to_integer<std::size_t>(bytes[at]), bytes.size() - at - 1);
    const Bytes whole = with_checksum(bytes.subspan(at + 1, length));
    const auto message = decode_message(whole);
    if (!message) continue;
    if (const auto* ack = std::get_if<Ack>(&message->body)) {
      calls.on_ack(*ack, at, out);
      served.on_ack(*ack, out);
    } else if (const auto* fragment = std::get_if<Fragment>(&message->body)) {
      if (fragment->reply) calls.on_reply(*fragment, at, out);
      if (!fragment->reply && served.on_request(*fragment, out)) {
        const std::pair call(fragment->call.slot, fragment->call.sequence);
        require(std::ranges::find(given, call) == given.end());
        given.push_back(call);
        served.answer(fragment->call, Bytes(300), out);
      }
    }
    send();
  }
}

}  // namespace

void run_one(base::ConstByteSpan input) {
  if (input.empty()) return;
  const base::ConstByteSpan rest = input.subspan(1);
  if (input[0] == std::byte{0}) judge_message(rest);
  if (input[0] == std::byte{1}) judge_message(with_checksum(rest));
  if (input[0] == std::byte{2}) judge(rest, decode_address);
  if (input[0] == std::byte{3}) judge(rest, decode_remote_memory);
  if (input[0] == std::byte{4}) (void)decode_reply(Bytes(rest.begin(), rest.end()));
  if (input[0] == std::byte{5}) run_session(rest);
}

std::vector<Bytes> seeds() {
  const Bytes payload(12, std::byte{3});
  const Address address{Bytes(16, std::byte{1}), 99};
  std::vector<Body> bodies{Hello{encode(address), 7, {}, {}},
                           Welcome{},
                           Proof{},
                           Ready{},
                           Refuse{},
                           Ping{},
                           Pong{},
                           Withdrawn{5},
                           Goodbye{}};
  bodies.emplace_back(Fragment{{1, 1}, false, 12, kMinFragment, 0, payload});
  bodies.emplace_back(Fragment{{0, 1}, true, 12, kMinFragment, 0, payload});
  bodies.emplace_back(Ack{{0, 1}, false, true, 1, 6});
  std::vector<Bytes> list;
  Bytes session;
  for (const Body& body : bodies) {
    const Bytes message = encode({4711, body});
    const base::ConstByteSpan rest = base::ConstByteSpan(message).subspan(kChecksum);
    list.push_back(with_mode(0, message));
    list.push_back(with_mode(1, rest));
    if (rest.size() > 255) continue;
    session.push_back(static_cast<std::byte>(rest.size()));
    session.insert(session.end(), rest.begin(), rest.end());
  }
  list.push_back(with_mode(2, encode(address)));
  RemoteMemory memory{{1, 2, 3}, Access::read, LocalFile{{"/tmp/slots", 4096}, "host/boot", 1000, 5, 6}};
  list.push_back(with_mode(3, encode(memory)));
  list.push_back(with_mode(4, encode_reply(Bytes(5))));
  list.push_back(with_mode(4, encode_reply(base::fail(PERDURE_NOT_FOUND, "object", "cause", "remedy"))));
  list.push_back(with_mode(5, session));
  return list;
}

}  // namespace perdure::fuzz
