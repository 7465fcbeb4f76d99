// Any bytes as what a peer sends: a stream of frames (mode 0), or one message (mode 1).
#include "base/json.hpp"
#include "ipc/address_codec.hpp"
#include "ipc/channel.hpp"
#include "support/sample_requests.hpp"
#include "target.hpp"

namespace perdure::fuzz {
namespace {

void judge(const base::Json& message) {
  if (auto request = ipc::request_from_json(message)) {
    const base::Json json = ipc::to_json(*request);
    auto again = ipc::request_from_json(json);
    require(again.has_value() && ipc::to_json(*again) == json);
  }
  if (auto summary = ipc::summary_from_json(message))
    require(ipc::summary_from_json(ipc::to_json(*summary)).has_value());
  if (auto address = ipc::address_from_json(message))
    require(ipc::address_from_json(ipc::to_json(*address)).has_value());
  if (auto reply = ipc::check_reply(message); !reply) require(reply.error().code != PERDURE_OK);
}

/// The messages that come out must not depend on how the bytes arrive.
std::size_t count_messages(base::ConstByteSpan stream, std::size_t step) {
  ipc::Decoder decoder;
  std::size_t count = 0;
  for (std::size_t at = 0; at < stream.size(); at += step) {
    decoder.feed(stream.subspan(at, std::min(step, stream.size() - at)));
    for (;;) {
      auto message = decoder.next();
      if (!message) return count;
      if (!message->has_value()) break;
      judge(**message);
      ++count;
    }
  }
  return count;
}

}  // namespace

void run_one(base::ConstByteSpan input) {
  if (input.empty()) return;
  const base::ConstByteSpan rest = input.subspan(1);
  if (input[0] == std::byte{1}) {
    if (auto json = base::decode_cbor(rest, "input")) judge(*json);
    return;
  }
  require(count_messages(rest, std::max<std::size_t>(rest.size(), 1)) == count_messages(rest, 7));
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> list;
  Bytes stream;
  for (base::Json message : test_support::sample_messages()) {
    list.push_back(with_mode(1, base::encode_cbor(message)));
    message["seq"] = list.size();
    const Bytes frame = ipc::encode_frame(message);
    stream.insert(stream.end(), frame.begin(), frame.end());
  }
  list.push_back(with_mode(0, stream));
  return list;
}

}  // namespace perdure::fuzz
