#pragma once
// Computes the exclusive or of blocks, read in place: the parity of a stripe, or the block given by a parity and the
// survivors. It works piece by piece, all blocks of one piece after the other, so that the result stays in the cache.
// It hashes every block on its way, from the very bytes that it combines.
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
  std::size_t local_piece_bytes = 256U << 10;  ///< without the wire, a piece that stays in the nearer cache
  unsigned reads = 2;                          ///< in flight at once
};

/// Reads blocks from the endpoints that expose them. Thread-safe.
class Reader {
 public:
  Reader(network::Endpoint& endpoint, const ReadLimits& limits) : endpoint_(endpoint), limits_(limits) {}
  const ReadLimits& limits() const { return limits_; }
  /// Maps the block itself, if it is a file of this host.
  base::Result<std::optional<network::View>> view(const Source& source);
  /// Reads bytes [at, at + target.size()) of the block. Errors are about its name.
  base::Status read(const Source& source, std::uint64_t at, ByteSpan target);
  /// Fails reads in flight, and later ones, too. Those that still wait for a connection do so until their limit.
  void break_off();

 private:
  base::Result<network::PeerId> connect(const Source& source);
  network::Endpoint& endpoint_;
  const ReadLimits limits_;
  std::mutex mutex_;
  bool broken_off_ = false;
  std::set<network::PeerId> peers_;
};

/// The threads that work on one order share it.
struct Progress {
  std::atomic<std::uint64_t> pulled{0};  ///< bytes
  std::atomic<bool> given_up{false};     ///< ends the work with PERDURE_CLOSED
};

enum class Start {
  empty,     ///< the target's content is overwritten
  existing,  ///< the blocks are added to the target's content
};

/// Fills `target`, which is as long as the longest block, and returns its hash. PERDURE_CORRUPT: a block has another
/// hash. PERDURE_TIMEOUT, PERDURE_PEER_FAILED: a block cannot be read. The error's object is the block's name.
base::Result<base::Hash128> combine(Reader& reader, const std::vector<Source>& sources, ByteSpan target, Start start,
                                    Progress& progress);

}  // namespace perdure::parity
