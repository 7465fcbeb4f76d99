#include "network/reply_codec.hpp"

#include "network/byte_reader.hpp"

namespace perdure::network {
namespace {

constexpr std::byte kValue{0};
constexpr std::byte kError{1};
constexpr std::size_t kMaxText = 0xffff;

ConstByteSpan at_most(const std::string& text) { return base::as_bytes(std::string_view(text).substr(0, kMaxText)); }

}  // namespace

Bytes encode_reply(const base::Result<Bytes>& outcome) {
  ByteWriter out;
  if (outcome) {
    out.reserve(1 + outcome->size());
    out.raw({&kValue, 1});
    out.raw(*outcome);
    return std::move(out.bytes());
  }
  const base::Error& error = outcome.error();
  out.raw({&kError, 1});
  out.number(static_cast<std::uint32_t>(error.code));
  out.number(static_cast<std::uint8_t>(error.retryable));
  out.sized(at_most(error.object));
  out.sized(at_most(error.cause));
  out.sized(at_most(error.remedy));
  return std::move(out.bytes());
}

base::Result<Bytes> decode_reply(Bytes reply) {
  if (!reply.empty() && reply[0] == kValue) {
    reply.erase(reply.begin());
    return reply;
  }
  ByteReader in(reply);
  base::Error error;
  const bool marked = in.number<std::uint8_t>() == std::to_integer<std::uint8_t>(kError);
  const auto code = in.number<std::uint32_t>();
  error.retryable = in.number<std::uint8_t>() != 0;
  error.object = in.text(kMaxText);
  error.cause = in.text(kMaxText);
  error.remedy = in.text(kMaxText);
  if (!marked || !in.at_end() || code == PERDURE_OK || code > base::kLastErrorCode)
    return base::fail(PERDURE_CORRUPT, "reply of a peer", "it is neither a value nor an error");
  error.code = static_cast<base::ErrorCode>(code);
  return base::fail(std::move(error));
}

}  // namespace perdure::network
