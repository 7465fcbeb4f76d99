#pragma once
// Guests: chunks that are on this node for a restore, and not held. They are in neither the catalog nor a piece, so
// that nobody flushes, replicates or exports them, and an engine that starts again knows nothing of them. Each goes
// once: when its client returns it or is gone. (docs/adr/0036)
#include <map>
#include <set>
#include <vector>

#include "engine/ledger/node_tables.hpp"
#include "ipc/guest_messages.hpp"

namespace perdure::engine {

struct Guest {
  SlotKey slot{};
  std::uint64_t length = 0;  ///< until it is filled: the most that it may have
  base::Hash128 hash;
  bool filled = false;
};

class Guests {
 public:
  using Chunks = std::map<ChunkName, segment::ChunkEntry>;  ///< offset and place: the slot
  explicit Guests(NodeTables& node) : node_(node) {}

  /// This client may bring guests from now on, until it is gone. Only while it is connected: what a thread still brings
  /// for a client that is gone would stay for ever.
  void admit(ClientId client) { clients_.insert(client); }
  /// The client will fill this slot, which was taken for it, with so many bytes at most. PERDURE_EXISTS when it has
  /// that guest already, PERDURE_CLOSED when it is not here.
  base::Status expect(ClientId client, const segment::VersionId& id, ChunkName name, SlotKey slot, std::uint64_t bytes);
  /// It has. Repeatable. PERDURE_NOT_FOUND when it was not to, PERDURE_INVALID_ARGUMENT when it cannot have, or has
  /// filled it with something else.
  base::Status fill(ClientId client, const segment::VersionId& id, ChunkName name, std::uint64_t length,
                    const base::Hash128& hash);
  /// Chunks that the engine brought for the client and verified, in slots that were taken for them: all of them, or
  /// none and PERDURE_CLOSED (the client is gone), PERDURE_EXISTS (it has one of them).
  base::Status host(ClientId client, const segment::VersionId& id, const Chunks& chunks);
  /// nullptr: this client did not bring it.
  const Guest* find(ClientId client, const segment::VersionId& id, ChunkName name) const;
  /// Those that are filled, whoever brought them, from this chunk on; of two of one chunk either.
  std::map<ChunkName, Guest> filled(const segment::VersionId& id, ChunkName from = {}) const;
  /// One that is filled, as clients are told of it.
  ipc::GuestChunk in_message(ChunkName name, const Guest& guest) const;
  /// All of the version that this client brought go.
  void go(ClientId client, const segment::VersionId& id);
  void client_gone(ClientId client);
  /// Another client's guest is on a tier with this property: its slot becomes free when that restore is over.
  template <class Usable>
  bool any_of_others(ClientId client, Usable usable) const {
    for (const auto& [key, guest] : guests_)
      if (key.client != client && usable(guest.slot.first)) return true;
    return false;
  }

 private:
  struct Key {
    ClientId client = 0;
    segment::VersionId id;
    ChunkName name;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  base::Status check_new(const Key& key) const;
  void add(const Key& key, const Guest& guest);
  template <class Which>
  void go_if(ClientId client, Which which);

  NodeTables& node_;
  std::set<ClientId> clients_;
  std::map<Key, Guest> guests_;
};

}  // namespace perdure::engine
