#pragma once
// Private to the codecs: the fields that several frames have.
#include "network/byte_reader.hpp"
#include "parity/order.hpp"

namespace perdure::parity {

inline constexpr std::size_t kMaxAddress = 1024;
inline constexpr std::size_t kMaxMemoryName = 8192;
inline constexpr std::uint32_t kMaxMemories = 1U << 16U;  ///< that one order names

using network::ByteReader;
using network::ByteWriter;

inline void put_hash(ByteWriter& out, const base::Hash128& hash) {
  out.number(hash.low);
  out.number(hash.high);
}

inline base::Hash128 get_hash(ByteReader& in) {
  base::Hash128 hash;
  hash.low = in.number<std::uint64_t>();
  hash.high = in.number<std::uint64_t>();
  return hash;
}

inline Bytes get_sized(ByteReader& in, std::size_t limit) {
  const ConstByteSpan bytes = in.sized(limit);
  return {bytes.begin(), bytes.end()};
}

inline void put_memory(ByteWriter& out, const network::RemoteMemory& memory) { out.sized(network::encode(memory)); }

/// `good` becomes false when it is none.
inline network::RemoteMemory get_memory(ByteReader& in, bool& good) {
  auto memory = network::decode_remote_memory(in.sized(kMaxMemoryName));
  good = good && memory;
  return memory ? std::move(*memory) : network::RemoteMemory{};
}

}  // namespace perdure::parity
