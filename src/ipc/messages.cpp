#include "ipc/messages.hpp"

namespace perdure::ipc {

base::Result<RequestHead> take_head(base::ConstByteSpan& payload) {
  base::FieldReader reader(payload);
  RequestHead head;
  reader.read(head.sequence);
  reader.read(head.operation);
  if (!reader.good()) return base::fail(PERDURE_CORRUPT, "message", "it is too short for one");
  payload = payload.last(reader.left());
  return head;
}

base::Result<std::uint64_t> take_sequence(base::ConstByteSpan& payload) {
  base::FieldReader reader(payload);
  std::uint64_t sequence = 0;
  reader.read(sequence);
  if (!reader.good()) return base::fail(PERDURE_CORRUPT, "reply", "it is too short for one");
  payload = payload.last(reader.left());
  return sequence;
}

template <>
base::Result<Hello> decode_request<Hello>(base::ConstByteSpan fields) {
  Hello hello;
  base::FieldReader reader(fields);
  reader.read(hello.protocol);
  if (reader.good() && hello.protocol != kProtocol) return hello;
  return base::decode_fields<Hello>(fields, "message");
}

base::Error too_long_a_reply(std::size_t bytes) {
  base::Error error = too_long("the engine's answer", bytes);
  error.code = PERDURE_NO_SPACE;  // no caller made a mistake
  return error;
}

}  // namespace perdure::ipc
