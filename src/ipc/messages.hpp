#pragma once
// Defines the one table of messages between ranks and engines, and their encoding. A request has a sequence number of
// 64 bits, the message's number in the table, and its fields. A reply has the same sequence number and the reply's
// fields, or an error. Everything received is checked before anybody acts on it (base/field_codec.hpp, and `wrong()` of
// messages). ipc/frame.hpp carries them.
#include <array>
#include <string_view>

#include "base/field_codec.hpp"
#include "ipc/capture_messages.hpp"
#include "ipc/frame.hpp"
#include "ipc/group_messages.hpp"
#include "ipc/guest_messages.hpp"
#include "ipc/inspection_messages.hpp"
#include "ipc/level_messages.hpp"
#include "ipc/version_messages.hpp"

namespace perdure::ipc {

/// Hello is the first in every release.
using AllMessages = decltype(InspectionMessages() + CaptureMessages() + VersionMessages() + LevelMessages() +
                             GroupMessages() + GuestMessages());
static_assert(AllMessages::kCount <= 256);

/// The number of M in a request.
template <Message M>
inline constexpr std::uint8_t kOperation = static_cast<std::uint8_t>(AllMessages::position<M>());
static_assert(kOperation<Hello> == 0);

struct RequestHead {
  std::uint64_t sequence = 0;
  std::uint8_t operation = 0;
};

/// Returns a whole frame.
template <Message M>
std::vector<std::byte> encode_request(std::uint64_t sequence, const M& message) {
  FrameWriter frame(std::same_as<M, Hello> ? FrameWriter::Kind::greeting : FrameWriter::Kind::usual);
  base::FieldWriter fields(frame.payload());
  fields.write(sequence);
  fields.write(kOperation<M>);
  fields.write(message);
  return frame.take();
}

/// Takes the head off the payload of a request. Fails with PERDURE_CORRUPT if there is none.
base::Result<RequestHead> take_head(base::ConstByteSpan& payload);

/// Decodes the fields after the head. Fails with PERDURE_CORRUPT if anything is missing or out of range.
template <Message M>
base::Result<M> decode_request(base::ConstByteSpan fields) {
  return base::decode_fields<M>(fields, "message");
}
/// Reads only the protocol if the Hello has another one.
template <>
base::Result<Hello> decode_request<Hello>(base::ConstByteSpan fields);

template <class Reply>
void append_frame(std::vector<std::byte>& out, std::uint64_t sequence, const base::Result<Reply>& reply) {
  FrameWriter frame(out);
  base::FieldWriter fields(frame.payload());
  fields.write(sequence);
  fields.write(reply);
  frame.finish();
}

/// Returns the error that replaces a reply of so many bytes, which no client would accept.
base::Error too_long_a_reply(std::size_t bytes);

/// Appends a whole frame. A reply that no client would accept becomes an error, so that the connection stays.
template <class Reply>
void append_reply(std::vector<std::byte>& out, std::uint64_t sequence, const base::Result<Reply>& reply) {
  const std::size_t before = out.size();
  append_frame(out, sequence, reply);
  const std::size_t bytes = out.size() - before;
  if (bytes <= kMaxFrame) return;
  out.resize(before);
  append_frame(out, sequence, base::Result<Reply>(base::fail(too_long_a_reply(bytes))));
}

/// Decodes a reply, or the error in it. `fields`: the payload after the sequence number.
template <class Reply>
base::Result<Reply> decode_reply(base::ConstByteSpan fields) {
  PERDURE_TRY(auto reply, base::decode_fields<base::Result<Reply>>(fields, "reply"));
  return reply;
}
/// Takes the sequence number off the payload of a reply. Fails with PERDURE_CORRUPT if there is none.
base::Result<std::uint64_t> take_sequence(base::ConstByteSpan& payload);

}  // namespace perdure::ipc
