#pragma once
// Counts the chunks that ranks expect to capture, and how many of them still wait for a slot. Not thread-safe.
#include <cstdint>
#include <map>
#include <vector>

#include "engine/ledger/write_times.hpp"
#include "segment/manifest.hpp"

namespace perdure::engine {

class ExpectedChunks {
 public:
  /// Sets the chunks of this client's next captures, and replaces what it announced before.
  void reserved(ClientId client, const std::vector<std::uint64_t>& chunk_bytes);
  /// The client got a slot for a chunk of this version.
  void granted(ClientId client, const segment::VersionId& id);
  void client_gone(ClientId client);

  /// Counts chunks without a slot, over all clients of the node. A client that has not begun this version counts with
  /// all it reserved, another with the rest.
  std::uint64_t without_slot(const segment::VersionId& id) const;
  std::uint64_t bytes() const { return bytes_; }  ///< of all that is reserved

 private:
  struct Client {
    std::uint64_t chunks = 0, bytes = 0;
    segment::VersionId id;  // version of the last slot that it got
    std::uint64_t granted = 0;
  };
  std::map<ClientId, Client> clients_;
  std::uint64_t chunks_ = 0, bytes_ = 0;
};

}  // namespace perdure::engine
