#include "ring.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "processes.hpp"
#include "redundancy/kernels.hpp"

namespace perdure::bench {
namespace {

using network::Bytes;
using network::ByteSpan;
using network::ConstByteSpan;

constexpr std::size_t kHead = 1 + 2 * sizeof(std::uint64_t);
constexpr std::uint64_t kPiece = 1U << 20U;

}  // namespace

void Ring::receive(ConstByteSpan message) {
  if (message.size() < kHead) return;
  Key key;
  std::memcpy(&key.first, message.data() + 1, sizeof key.first);
  std::memcpy(&key.second, message.data() + 1 + sizeof key.first, sizeof key.second);
  const std::lock_guard lock(mutex_);
  received_[key] = Bytes(message.begin() + kHead, message.end());
  changed_.notify_all();
}

base::Result<Bytes> Ring::take(Key key) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, std::chrono::nanoseconds(kLimitNs), [&] { return received_.contains(key); }))
    return base::fail(PERDURE_TIMEOUT, "ring", "the left neighbour sent nothing");
  return std::move(received_.extract(key).mapped());
}

base::Status Ring::run(network::Endpoint& self, network::PeerId right, unsigned members, ConstByteSpan data,
                       ByteSpan parity) {
  const std::uint64_t part = data.size() / (members - 1);
  for (std::uint64_t at = 0; at < part; at += kPiece) {
    const std::uint64_t bytes = std::min(kPiece, part - at);
    for (std::uint64_t step = 1; step < members; ++step) {
      // This parity is on its way to the member `step` places to the left; our part for it has that number.
      const ConstByteSpan own = data.subspan((step - 1) * part + at, bytes);
      Bytes message(kHead + bytes, kRingMessage);
      std::memcpy(message.data() + 1, &at, sizeof at);
      std::memcpy(message.data() + 1 + sizeof at, &step, sizeof step);
      std::memcpy(message.data() + kHead, own.data(), bytes);
      if (step > 1) {
        PERDURE_TRY(const Bytes partial, take({at, step - 1}));
        redundancy::exclusive_or_into(message.data() + kHead, partial.data(), bytes);
      }
      PERDURE_TRY([[maybe_unused]] const Bytes reply, self.call(right, message, kLimitNs));
    }
    PERDURE_TRY(const Bytes whole, take({at, members - 1}));
    std::memcpy(parity.data() + at, whole.data(), std::min<std::size_t>(bytes, parity.size() - at));
  }
  return {};
}

}  // namespace perdure::bench
