#pragma once
// Makes all messages between ranks and engines, for tests and fuzz targets.
#include <vector>

#include "base/any_value_testing.hpp"
#include "ipc/messages.hpp"
#include "support/sample_segment.hpp"

namespace perdure::test_support {

/// Returns any M of the current protocol.
template <ipc::Message M>
M sample_message(std::uint64_t seed) {
  M message = AnyValue(seed).make<M>();
  if constexpr (std::same_as<M, ipc::Hello>) message.protocol = ipc::kProtocol;
  return message;
}

/// Returns one of every request, as frames.
inline std::vector<std::vector<std::byte>> sample_request_frames(std::uint64_t seed) {
  std::vector<std::vector<std::byte>> frames;
  ipc::AllMessages::for_each([&]<class M>(std::type_identity<M>) {
    const std::uint64_t sequence = frames.size() + 1;
    frames.push_back(ipc::encode_request(sequence, sample_message<M>(seed + sequence)));
  });
  return frames;
}

/// Returns one reply to every request that has one, as frames.
inline std::vector<std::vector<std::byte>> sample_reply_frames(std::uint64_t seed) {
  std::vector<std::vector<std::byte>> frames;
  ipc::AllMessages::for_each([&]<class M>(std::type_identity<M>) {
    if constexpr (ipc::Answered<M>) {
      const std::uint64_t sequence = frames.size() + 1;
      ipc::append_reply(frames.emplace_back(), sequence,
                        AnyValue(seed + sequence).make<base::Result<typename M::Reply>>());
    }
  });
  return frames;
}

}  // namespace perdure::test_support
