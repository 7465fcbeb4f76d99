#include "engine/ledger/expected_chunks.hpp"

#include <algorithm>
#include <numeric>

namespace perdure::engine {

void ExpectedChunks::add(const Client& client) {
  chunks_ += client.chunks;
  bytes_ += client.bytes;
  const std::uint64_t granted = std::min(client.chunks, client.granted);
  if (granted > 0) granted_[client.id] += granted;
}

void ExpectedChunks::subtract(const Client& client) {
  chunks_ -= client.chunks;
  bytes_ -= client.bytes;
  const std::uint64_t granted = std::min(client.chunks, client.granted);
  if (granted == 0) return;
  const auto it = granted_.find(client.id);
  if ((it->second -= granted) == 0) granted_.erase(it);
}

void ExpectedChunks::reserved(ClientId id, const std::vector<std::uint64_t>& chunk_bytes) {
  Client& client = clients_[id];
  subtract(client);
  client.chunks = chunk_bytes.size();
  client.bytes = std::accumulate(chunk_bytes.begin(), chunk_bytes.end(), std::uint64_t{0});
  add(client);
}

void ExpectedChunks::granted(ClientId id, const segment::VersionId& version) {
  Client& client = clients_[id];
  subtract(client);
  client.granted = client.id == version ? client.granted + 1 : 1;
  client.id = version;
  add(client);
}

void ExpectedChunks::client_gone(ClientId id) {
  const auto it = clients_.find(id);
  if (it == clients_.end()) return;
  subtract(it->second);
  clients_.erase(it);
}

std::uint64_t ExpectedChunks::without_slot(const segment::VersionId& id) const {
  const auto it = granted_.find(id);
  return chunks_ - (it == granted_.end() ? 0 : it->second);
}

}  // namespace perdure::engine
