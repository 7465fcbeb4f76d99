#pragma once
// The chunks that ranks said their captures will have, and how many of them still wait for a slot. Not thread-safe.
#include <cstdint>
#include <map>
#include <vector>

#include "engine/ledger/write_times.hpp"
#include "segment/manifest.hpp"

namespace perdure::engine {

class ExpectedChunks {
 public:
  /// Of the next captures of this client, in place of what it said before.
  void reserved(ClientId client, const std::vector<std::uint64_t>& chunk_bytes);
  /// It got a slot for a chunk of this version.
  void granted(ClientId client, const segment::VersionId& id);
  void client_gone(ClientId client);

  /// Without a slot, over all clients of the node: of those that have not begun with this version all they reserved, of
  /// the others the rest.
  std::uint64_t without_slot(const segment::VersionId& id) const;
  std::uint64_t bytes() const { return bytes_; }  ///< of all that is reserved

 private:
  struct Client {
    std::uint64_t chunks = 0, bytes = 0;
    segment::VersionId id;  // the last one that it got a slot for
    std::uint64_t granted = 0;
  };
  std::map<ClientId, Client> clients_;
  std::uint64_t chunks_ = 0, bytes_ = 0;
};

}  // namespace perdure::engine
