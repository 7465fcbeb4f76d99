#include "engine/ledger/expected_chunks.hpp"

#include <algorithm>
#include <numeric>

namespace perdure::engine {

void ExpectedChunks::reserved(ClientId id, const std::vector<std::uint64_t>& chunk_bytes) {
  Client& client = clients_[id];
  chunks_ -= client.chunks;
  bytes_ -= client.bytes;
  client.chunks = chunk_bytes.size();
  client.bytes = std::accumulate(chunk_bytes.begin(), chunk_bytes.end(), std::uint64_t{0});
  chunks_ += client.chunks;
  bytes_ += client.bytes;
}

void ExpectedChunks::granted(ClientId id, const segment::VersionId& version) {
  Client& client = clients_[id];
  client.granted = client.id == version ? client.granted + 1 : 1;
  client.id = version;
}

void ExpectedChunks::client_gone(ClientId id) {
  const auto it = clients_.find(id);
  if (it == clients_.end()) return;
  chunks_ -= it->second.chunks;
  bytes_ -= it->second.bytes;
  clients_.erase(it);
}

std::uint64_t ExpectedChunks::without_slot(const segment::VersionId& id) const {
  std::uint64_t chunks = chunks_;
  for (const auto& [number, client] : clients_)
    if (client.granted > 0 && client.id == id) chunks -= std::min(client.chunks, client.granted);
  return chunks;
}

}  // namespace perdure::engine
