#pragma once
// Manages guests: chunks that are on this node for a restore and are not held by it. They are in neither the catalog
// nor a piece. So they are never flushed, replicated or exported, and a restarted engine does not know them. Each guest
// is released once, when its client returns it or is gone (docs/adr/0036).
#include <map>
#include <set>
#include <vector>

#include "engine/ledger/node_tables.hpp"
#include "ipc/guest_messages.hpp"

namespace perdure::engine {

struct Guest {
  SlotKey slot{};
  std::uint64_t length = 0;  ///< until it is filled: the maximum
  base::Hash128 hash;
  bool filled = false;
};

class Guests {
 public:
  using Chunks = std::map<ChunkName, segment::ChunkEntry>;  ///< offset and place name the slot
  explicit Guests(NodeTables& node) : node_(node) {}

  /// This client may bring guests from now on, until it is gone. Call it only while the client is connected: chunks
  /// that a thread brought for a client that is gone would stay for ever.
  void admit(ClientId client) { clients_.insert(client); }
  /// The client will fill this slot, which was taken for it, with at most `bytes`. Fails with PERDURE_EXISTS if the
  /// client has that guest already, and with PERDURE_CLOSED if it is not connected.
  base::Status expect(ClientId client, const segment::VersionId& id, ChunkName name, SlotKey slot, std::uint64_t bytes);
  /// The client has filled the slot. Repeatable. Fails with PERDURE_NOT_FOUND if no such guest was expected, and with
  /// PERDURE_INVALID_ARGUMENT if the length is impossible or the slot was filled with other content.
  base::Status fill(ClientId client, const segment::VersionId& id, ChunkName name, std::uint64_t length,
                    const base::Hash128& hash);
  /// Adds chunks that the engine brought for the client and verified, in slots that were taken for them. Adds all of
  /// them, or none: PERDURE_CLOSED (the client is gone) or PERDURE_EXISTS (it has one of them).
  base::Status host(ClientId client, const segment::VersionId& id, const Chunks& chunks);
  /// nullptr: this client did not bring it.
  const Guest* find(ClientId client, const segment::VersionId& id, ChunkName name) const;
  /// Returns the filled guests of the version from chunk `from` on, whoever brought them. If there are two copies of
  /// one chunk, it returns either.
  std::map<ChunkName, Guest> filled(const segment::VersionId& id, ChunkName from = {}) const;
  /// Returns a filled guest in the form that messages to clients have.
  ipc::GuestChunk in_message(ChunkName name, const Guest& guest) const;
  /// Releases all guests of the version that this client brought.
  void go(ClientId client, const segment::VersionId& id);
  void client_gone(ClientId client);
  /// True if another client's guest is on a tier with this property. Its slot becomes free when that restore is over.
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
