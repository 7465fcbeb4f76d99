#pragma once
// The exclusive or of blocks that are read from where they are: the parity of a stripe, or what a parity and the
// survivors give. Piece by piece, all blocks of one piece after the other, so that the result stays in the cache; every
// block is hashed on its way, from the very bytes that were combined.
#include <atomic>
#include <mutex>
#include <set>

#include "network/endpoint.hpp"
#include "parity/order.hpp"

namespace perdure::parity {

/// A block of another endpoint.
struct Source {
  std::string name;  ///< for messages
  const Bytes* address = nullptr;
  const Block* block = nullptr;  ///< not empty
};

struct ReadLimits {
  std::uint64_t connect_ns = 5'000'000'000;
  std::uint64_t stall_ns = 20'000'000'000;  ///< for one piece
  std::size_t piece_bytes = 1U << 20;
  std::size_t local_piece_bytes = 256U << 10;  ///< when nothing comes over the wire: what stays in the nearer cache
  unsigned reads = 2;                          ///< under way at once
};

/// Reads blocks from the endpoints that expose them. Thread-safe.
class Reader {
 public:
  Reader(network::Endpoint& endpoint, const ReadLimits& limits) : endpoint_(endpoint), limits_(limits) {}
  const ReadLimits& limits() const { return limits_; }
  /// The block itself, where it is a file of this host.
  base::Result<std::optional<network::View>> view(const Source& source);
  /// Bytes [at, at + target.size()) of the block. Errors are about its name.
  base::Status read(const Source& source, std::uint64_t at, ByteSpan target);
  /// Reads under way fail, and later ones, too. Those that still wait for a connection do so for their limit.
  void break_off();

 private:
  base::Result<network::PeerId> connect(const Source& source);
  network::Endpoint& endpoint_;
  const ReadLimits limits_;
  std::mutex mutex_;
  bool broken_off_ = false;
  std::set<network::PeerId> peers_;
};

/// Shared by the threads that work on one order.
struct Progress {
  std::atomic<std::uint64_t> pulled{0};  ///< bytes
  std::atomic<bool> given_up{false};     ///< ends the work with PERDURE_CLOSED
};

enum class Start {
  empty,     ///< the target's content is of no interest
  existing,  ///< the blocks are added to what it holds
};

/// Fills `target`, which is as long as the longest block, and gives its hash. Errors: PERDURE_CORRUPT for a block whose
/// hash is another one, PERDURE_TIMEOUT and PERDURE_PEER_FAILED for one that cannot be read; their object is its name.
base::Result<base::Hash128> combine(Reader& reader, const std::vector<Source>& sources, ByteSpan target, Start start,
                                    Progress& progress);

}  // namespace perdure::parity
