// Serves the pool to clients that use it directly.
#include <cstring>

#include "parity/server.hpp"

namespace perdure::parity {
namespace {

Bytes describe(const Area& area) { return encode(PoolMemory{area.id, area.piece.bytes(), area.exposed}); }

base::Result<ByteSpan> part_of(const Area& area, std::uint64_t offset, std::uint64_t bytes) {
  const ByteSpan all = area.piece.span();
  if (offset <= all.size() && bytes <= all.size() - offset) return all.subspan(offset, bytes);
  return base::fail(PERDURE_INVALID_ARGUMENT, id_text(area.id),
                    "bytes " + std::to_string(offset) + " and " + std::to_string(bytes) + " more are not within its " +
                        std::to_string(all.size()));
}

}  // namespace

/// A turn among the requests that read from their callers, or none.
class Server::PullTurn {
 public:
  PullTurn(Server& server, network::PeerId peer) : server_(server), peer_(peer) {
    const unsigned threads = server.options_.endpoint.service_threads;
    const std::lock_guard lock(server.pull_mutex_);
    has_it_ = server.pull_count_ + 1 < threads && server.pulls_[peer] < kPullsPerPeer;
    if (!has_it_) return;
    ++server.pull_count_;
    ++server.pulls_[peer];
  }
  ~PullTurn() {
    if (!has_it_) return;
    const std::lock_guard lock(server_.pull_mutex_);
    --server_.pull_count_;
    if (--server_.pulls_[peer_] == 0) server_.pulls_.erase(peer_);
  }
  PullTurn(const PullTurn&) = delete;
  PullTurn& operator=(const PullTurn&) = delete;
  bool has_it() const { return has_it_; }

 private:
  static constexpr unsigned kPullsPerPeer = 2;
  Server& server_;
  const network::PeerId peer_;
  bool has_it_ = false;
};

base::Result<Bytes> Server::answer(network::PeerId, const Allocate& allocate) {
  PERDURE_TRY(const AreaPointer area, table_of_parities_.allocate(allocate.id, allocate.bytes, [this](ByteSpan memory) {
    return ready_.load()->expose(memory, network::Access::read);
  }));
  return describe(*area);
}

base::Result<Bytes> Server::answer(network::PeerId, const OpenMemory& open) {
  PERDURE_TRY(const AreaPointer area, table_of_parities_.area(open.id));
  return describe(*area);
}

base::Result<Bytes> Server::answer(network::PeerId, const Put& put) {
  PERDURE_TRY(const AreaPointer area, table_of_parities_.area(put.id));
  PERDURE_TRY(const ByteSpan target, part_of(*area, put.offset, put.data.size()));
  if (!target.empty()) std::memcpy(target.data(), put.data.data(), target.size());
  return Bytes{};
}

base::Result<Bytes> Server::answer(network::PeerId peer, const Pull& pull) {
  PERDURE_TRY(const AreaPointer area, table_of_parities_.area(pull.id));
  PERDURE_TRY(const ByteSpan target, part_of(*area, pull.offset, pull.bytes));
  const PullTurn turn(*this, peer);
  if (!turn.has_it())
    return base::fail(PERDURE_BUSY, id_text(pull.id), "the server reads as much from others as it can", {}, true);
  network::Endpoint& endpoint = *ready_;
  PERDURE_CHECK(endpoint.read(peer, pull.memory, pull.from, target, options_.reads.stall_ns));
  pulled_ += pull.bytes;
  return Bytes{};
}

}  // namespace perdure::parity
