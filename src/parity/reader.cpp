#include "parity/combine.hpp"

namespace perdure::parity {
namespace {

base::Error about(const Source& source, base::Error error) {
  error.cause = error.object + ": " + error.cause;
  error.object = source.name;
  return error;
}

}  // namespace

base::Result<network::PeerId> Reader::connect(const Source& source) {
  const auto peer = endpoint_.connect(*source.address, limits_.connect_ns);
  if (!peer) return base::fail(about(source, peer.error()));
  const std::lock_guard lock(mutex_);
  if (broken_off_) return base::fail(PERDURE_CLOSED, source.name, "the server ends");
  peers_.insert(*peer);
  return *peer;
}

base::Result<std::optional<network::View>> Reader::view(const Source& source) {
  PERDURE_TRY(const network::PeerId peer, connect(source));
  return endpoint_.view(peer, source.block->memory);
}

base::Status Reader::read(const Source& source, std::uint64_t at, ByteSpan target) {
  PERDURE_TRY(const network::PeerId peer, connect(source));
  const Block& block = *source.block;
  const auto read = endpoint_.read(peer, block.memory, block.offset + at, target, limits_.stall_ns);
  if (read) return {};
  if (!endpoint_.name_of(peer)) {
    const std::lock_guard lock(mutex_);
    peers_.erase(peer);
  }
  return base::fail(about(source, read.error()));
}

void Reader::break_off() {
  std::set<network::PeerId> peers;
  {
    const std::lock_guard lock(mutex_);
    broken_off_ = true;
    peers.swap(peers_);
  }
  for (const network::PeerId peer : peers) endpoint_.disconnect(peer);
}

}  // namespace perdure::parity
