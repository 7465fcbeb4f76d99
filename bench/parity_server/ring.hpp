#pragma once
// Implements distributed xor as checkpoint libraries of the papers' time do (SCR). The parity of every part travels
// around the ring of the group's members, and each adds its own data, message by message.
#include <condition_variable>
#include <map>
#include <mutex>

#include "network/endpoint.hpp"

namespace perdure::bench {

/// One member. Its data is divided into n - 1 equal parts, one for the parity of every other member.
class Ring {
 public:
  /// Receives a message from the left neighbour; keeps it until it is added.
  void receive(network::ConstByteSpan message);
  /// Goes around once with all members; leaves the parity that ends here in `parity`.
  base::Status run(network::Endpoint& self, network::PeerId right, unsigned members, network::ConstByteSpan data,
                   network::ByteSpan parity);

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;  // piece, step
  base::Result<network::Bytes> take(Key key);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, network::Bytes> received_;
};

inline constexpr std::byte kRingMessage{'p'};

}  // namespace perdure::bench
