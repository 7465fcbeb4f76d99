// Fuzzes a peer's messages with any bytes: a stream of frames (mode 0), or one payload (mode 1).
#include "ipc/channel.hpp"
#include "support/sample_requests.hpp"
#include "target.hpp"

namespace perdure::fuzz {
namespace {

/// An understood message must be understood again after it is encoded.
template <class T>
void judge(base::ConstByteSpan bytes) {
  const auto value = base::decode_fields<T>(bytes, "input");
  if (!value) return require(value.error().code == PERDURE_CORRUPT);
  const auto written = base::encode_fields(*value);
  const auto again = base::decode_fields<T>(written, "input");
  require(again.has_value() && base::encode_fields(*again) == written);
}

/// Decodes as a request, and as the reply to any.
void judge_payload(base::ConstByteSpan payload) {
  base::ConstByteSpan request = payload, reply = payload;
  const auto head = ipc::take_head(request);
  if (!head) return;
  require(ipc::take_sequence(reply).value() == head->sequence);
  ipc::AllMessages::for_each([&]<class M>(std::type_identity<M>) {
    if (head->operation == ipc::kOperation<M>) judge<M>(request);
    if constexpr (ipc::Answered<M>) judge<base::Result<typename M::Reply>>(reply);
  });
  (void)ipc::decode_request<ipc::Hello>(request);
}

/// The decoded messages must not depend on how the bytes arrive.
std::size_t count_messages(base::ConstByteSpan stream, std::size_t step) {
  ipc::Decoder decoder;
  std::size_t count = 0;
  for (std::size_t at = 0; at < stream.size(); at += step) {
    decoder.feed(stream.subspan(at, std::min(step, stream.size() - at)));
    for (;;) {
      const auto frame = decoder.next();
      if (!frame) return count;
      if (!frame->has_value()) break;
      if ((*frame)->outdated)
        require(!ipc::refuse_outdated((*frame)->payload, ipc::kProtocol).empty());
      else
        judge_payload((*frame)->payload);
      ++count;
    }
  }
  return count;
}

}  // namespace

void run_one(base::ConstByteSpan input) {
  if (input.empty()) return;
  const base::ConstByteSpan rest = input.subspan(1);
  if (input[0] == std::byte{1}) return judge_payload(rest);
  require(count_messages(rest, std::max<std::size_t>(rest.size(), 1)) == count_messages(rest, 7));
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> list;
  for (const auto& frames : {test_support::sample_request_frames(3), test_support::sample_reply_frames(3)}) {
    Bytes stream;
    for (const Bytes& frame : frames) {
      stream.insert(stream.end(), frame.begin(), frame.end());
      ipc::Decoder decoder;
      decoder.feed(frame);
      list.push_back(with_mode(1, decoder.next().value()->payload));
    }
    list.push_back(with_mode(0, stream));
  }
  return list;
}

}  // namespace perdure::fuzz
