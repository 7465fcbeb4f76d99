#pragma once
// Holds the objects that request handlers work with, all on the thread of the event loop.
#include <map>
#include <string>

#include "engine/ledger/ledger.hpp"
#include "engine/serve/background.hpp"
#include "engine/serve/connections.hpp"
#include "engine/serve/exporter.hpp"
#include "engine/serve/lifetime.hpp"
#include "engine/serve/room_look.hpp"
#include "engine/serve/skipped_versions.hpp"
#include "tier/slot_io.hpp"

namespace perdure::engine {

class WaitingRequests;

struct ServerOptions {
  std::string fingerprint;
  std::uint64_t chunk_bytes = 0;   ///< told to clients
  std::uint64_t idle_exit_ns = 0;  ///< 0: never
  NodeGroup* group = nullptr;      ///< outlives the server; nullptr: nothing is kept for other nodes
  Identity identity = {};
  LookForRoom look_for_room = {};  ///< looks for residue of dead engines; empty: no looks are made
};

/// A client that sent Hello.
struct Client {
  std::uint32_t rank = 0;
  bool looks_only = false;  ///< a tool
  bool is_rank() const { return !looks_only; }
};

struct ServeContext {
  Ledger& ledger;
  Flusher& flusher;
  Janitor& janitor;
  Pipeline& pipeline;
  Reports& reports;
  const ServerOptions& options;
  Lifetime& lifetime;
  WaitingRequests& waiting;
  Connections& connections;
  Background& background;
  RoomLook& room_look;
  std::map<ClientId, Client> clients = {};  ///< those that sent Hello
  ClientId network_client = 0;              ///< the client that opened the network
  tier::SlotIo slots = {};                  ///< for content that comes in messages
  SkippedVersions skipped = {};
  std::map<std::string, std::uint64_t> newest_begun = {};  ///< by name: the start of its newest attempt

  std::uint32_t rank_of(ClientId id) const {
    const auto client = clients.find(id);
    return client == clients.end() ? 0 : client->second.rank;
  }
};

}  // namespace perdure::engine
