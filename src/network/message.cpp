#include "network/message.hpp"

#include "base/hash.hpp"
#include "network/byte_reader.hpp"

namespace perdure::network {
namespace {

constexpr std::uint32_t kMessageMagic = 0x4e445250;  // "PRDN"
constexpr std::uint8_t kMessageFormat = 1;
constexpr std::size_t kChecksumBytes = 8;

void put(ByteWriter& out, const CallId& call) {
  out.number(call.slot);
  out.number(call.sequence);
}

struct BodyWriter {
  ByteWriter& out;
  void operator()(const Hello& m) const {
    out.sized(m.from);
    out.number(m.to);
    out.raw(m.nonce);
    out.raw(m.proof);
  }
  void operator()(const Welcome& m) const {
    out.raw(m.initiator);
    out.raw(m.responder);
    out.raw(m.proof);
  }
  void operator()(const Proof& m) const {
    out.raw(m.initiator);
    out.raw(m.responder);
    out.raw(m.proof);
  }
  void operator()(const Ready& m) const {
    out.raw(m.initiator);
    out.raw(m.proof);
  }
  void operator()(const Refuse& m) const {
    out.raw(m.initiator);
    out.raw(m.proof);
  }
  void operator()(const Fragment& m) const {
    put(out, m.call);
    out.number(static_cast<std::uint8_t>(m.reply));
    out.number(m.total);
    out.number(m.fragment_bytes);
    out.number(m.index);
    out.raw(m.payload);
  }
  void operator()(const Ack& m) const {
    put(out, m.call);
    out.number(static_cast<std::uint8_t>((m.reply ? 1 : 0) | (m.probe ? 2 : 0)));
    out.number(m.first_missing);
    out.number(m.later);
  }
  void operator()(const Ping&) const {}
  void operator()(const Pong&) const {}
  void operator()(const Withdrawn& m) const { out.number(m.key); }
  void operator()(const Goodbye&) const {}
};

CallId get_call(ByteReader& in) {
  CallId call;
  call.slot = in.number<std::uint16_t>();
  call.sequence = in.number<std::uint64_t>();
  return call;
}

bool get(ByteReader& in, Hello& m) {
  const ConstByteSpan from = in.sized(2 * kMaxWireAddress);
  m.from.assign(from.begin(), from.end());
  m.to = in.number<std::uint64_t>();
  m.nonce = in.array<16>();
  m.proof = in.array<32>();
  return true;
}
bool get(ByteReader& in, Welcome& m) {
  m = {in.array<16>(), in.array<16>(), in.array<32>()};
  return true;
}
bool get(ByteReader& in, Proof& m) {
  m = {in.array<16>(), in.array<16>(), in.array<32>()};
  return true;
}
bool get(ByteReader& in, Ready& m) {
  m = {in.array<16>(), in.array<32>()};
  return true;
}
bool get(ByteReader& in, Refuse& m) {
  m = {in.array<16>(), in.array<32>()};
  return true;
}
bool get(ByteReader& in, Fragment& m) {
  m.call = get_call(in);
  const auto reply = in.number<std::uint8_t>();
  m.reply = reply == 1;
  m.total = in.number<std::uint32_t>();
  m.fragment_bytes = in.number<std::uint32_t>();
  m.index = in.number<std::uint32_t>();
  m.payload = in.rest();
  // The fields must be consistent; an empty message is one empty fragment.
  if (reply > 1 || m.fragment_bytes < kMinFragment) return false;
  const std::uint64_t begin = std::uint64_t{m.index} * m.fragment_bytes;
  if (m.index > 0 && begin >= m.total) return false;
  return m.payload.size() == std::min<std::uint64_t>(m.fragment_bytes, m.total - begin);
}
bool get(ByteReader& in, Ack& m) {
  m.call = get_call(in);
  const auto flags = in.number<std::uint8_t>();
  m.reply = (flags & 1) != 0;
  m.probe = (flags & 2) != 0;
  m.first_missing = in.number<std::uint32_t>();
  m.later = in.number<std::uint64_t>();
  return flags <= 3;
}
bool get(ByteReader&, Ping&) { return true; }
bool get(ByteReader&, Pong&) { return true; }
bool get(ByteReader& in, Withdrawn& m) {
  m.key = in.number<std::uint64_t>();
  return true;
}
bool get(ByteReader&, Goodbye&) { return true; }

base::Result<Body> malformed(const char* why) { return base::fail(PERDURE_CORRUPT, "network message", why); }

/// Decodes the body of alternative number `kind`, counted from 0.
template <std::size_t Kind = 0>
base::Result<Body> get_body(ByteReader& in, std::size_t kind) {
  if constexpr (Kind < std::variant_size_v<Body>) {
    if (kind != Kind) return get_body<Kind + 1>(in, kind);
    std::variant_alternative_t<Kind, Body> body;
    if (!get(in, body)) return malformed("its fields contradict each other");
    if (!in.at_end()) return malformed("it has another length than its kind has");
    return Body(std::move(body));
  } else {
    return malformed("it is of an unknown kind");
  }
}

}  // namespace

Bytes encode(const Message& message) {
  ByteWriter out;
  const auto* fragment = std::get_if<Fragment>(&message.body);
  out.reserve(fragment != nullptr ? kFragmentOverhead + fragment->payload.size() : 256);
  out.number(std::uint64_t{0});
  out.number(kMessageMagic);
  out.number(kMessageFormat);
  out.number(static_cast<std::uint8_t>(message.body.index()));
  out.number(std::uint16_t{0});
  out.number(message.session);
  std::visit(BodyWriter{out}, message.body);
  ByteWriter checksum;
  checksum.number(base::hash64(ConstByteSpan(out.bytes()).subspan(kChecksumBytes)));
  std::memcpy(out.bytes().data(), checksum.bytes().data(), kChecksumBytes);
  return std::move(out.bytes());
}

base::Result<Message> decode_message(ConstByteSpan bytes) {
  ByteReader in(bytes);
  const auto checksum = in.number<std::uint64_t>();
  if (!in.good() || base::hash64(bytes.subspan(kChecksumBytes)) != checksum)
    return base::fail(PERDURE_CORRUPT, "network message", "its checksum does not hold");
  if (in.number<std::uint32_t>() != kMessageMagic)
    return base::fail(PERDURE_CORRUPT, "network message", "it does not begin with the magic number");
  if (in.number<std::uint8_t>() != kMessageFormat)
    return base::fail(PERDURE_UNSUPPORTED, "network message", "it is of another version of Perdure",
                      "use the same version on all nodes");
  const auto kind = in.number<std::uint8_t>();
  if (in.number<std::uint16_t>() != 0 || !in.good())
    return base::fail(PERDURE_CORRUPT, "network message", "its head is damaged");
  Message message;
  message.session = in.number<std::uint64_t>();
  PERDURE_TRY(message.body, get_body(in, kind));
  return message;
}

}  // namespace perdure::network
