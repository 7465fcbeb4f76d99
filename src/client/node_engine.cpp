#include "client/node_engine.hpp"

#include <algorithm>
#include <utility>

#include "capture/source.hpp"
#include "client/slot_reading.hpp"

namespace perdure::client {

base::Status NodeEngine::connect(const std::string& socket, const ipc::Hello& hello) {
  PERDURE_TRY(channel_, ipc::Channel::connect(socket));
  directory_ = socket.substr(0, socket.rfind('/'));
  PERDURE_TRY(const auto reply, channel_.call(hello));
  chunk_bytes_ = reply.chunk_bytes;
  paced_ = reply.paced;
  if (chunk_bytes_ == 0) return base::fail(PERDURE_CORRUPT, "engine", "it says that chunks have 0 bytes");
  return announce();
}

void NodeEngine::disconnect() {
  channel_.close();
  prefaulter_.stop();
  slots_.clear();
  announced_.clear();
  committing_ = {};
}

std::uint64_t NodeEngine::chunk_bytes_of(std::uint64_t capture_bytes, bool has_parts, std::uint64_t most) const {
  if (!short_parts_) return chunk_bytes_;
  if (most > 0) return std::min(most, chunk_bytes_);
  return has_parts ? capture::chunk_bytes_of_parts(capture_bytes, chunk_bytes_) : chunk_bytes_;
}

base::Status NodeEngine::announce() {
  std::vector<std::uint64_t> sizes;
  for (const auto& range :
       capture::cut(expected_.bytes, chunk_bytes_of(expected_.bytes, expected_.has_parts, expected_.most)))
    sizes.push_back(range.length);
  if (sizes == announced_) return {};
  PERDURE_TRY(const auto reply, channel_.call(ipc::Reserve{sizes}));
  announced_ = sizes;
  if (!prefault_) return {};
  for (const auto& [address, bytes] : reply.slots) prefaulter_.add(slot_of(address), bytes);
  return {};
}

base::Status NodeEngine::post_commit(const ipc::Commit& commit) {
  PERDURE_CHECK(take_commit());
  std::string version = commit.id.text();
  PERDURE_TRY(const auto posted, channel_.post(commit));
  committing_ = {std::move(version), posted};
  return {};
}

// Every piece is in a catalog by then: settle() finds out what an engine that ended has not heard. If the engine does
// not hold the version any more, another rank had it committed, and the engine has dropped it since.
base::Status NodeEngine::take_commit() {
  if (!committing_.posted) return {};
  const Committing committing = std::exchange(committing_, {});
  const auto done = channel_.await(committing.posted);
  if (done || done.error().code == PERDURE_UNAVAILABLE || done.error().code == PERDURE_NOT_FOUND) return {};
  return base::fail(done.error().code, committing.version,
                    "its checkpoint was agreed, and could not be committed: " + done.error().text());
}

base::Result<std::vector<ipc::HeldSummary>> NodeEngine::inventory(const std::string& name) {
  PERDURE_TRY(auto reply, channel_.call(ipc::Inventory{name, false}));
  return std::move(reply.held);
}

}  // namespace perdure::client
