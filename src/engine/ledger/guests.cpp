#include "engine/ledger/guests.hpp"

#include "engine/ledger/slot_grants.hpp"

namespace perdure::engine {
namespace {

std::string text_of(const segment::VersionId& id, ChunkName name) {
  return id.text() + ", rank " + std::to_string(name.rank) + ", chunk " + std::to_string(name.chunk);
}

}  // namespace

base::Status Guests::check_new(const Key& key) const {
  if (!clients_.contains(key.client))
    return base::fail(PERDURE_CLOSED, text_of(key.id, key.name), "whoever wanted it is gone");
  if (guests_.contains(key))
    return base::fail(PERDURE_EXISTS, text_of(key.id, key.name), "this client has brought it already");
  return {};
}

// The record comes first: a guest's slot without a record would never be given back.
void Guests::add(const Key& key, const Guest& guest) {
  guests_.emplace(key, guest);
  (void)node_.slots.happens(guest.slot, SlotEvent::host);
}

base::Status Guests::expect(ClientId client, const segment::VersionId& id, ChunkName name, SlotKey slot,
                            std::uint64_t bytes) {
  const Key key{client, id, name};
  PERDURE_CHECK(check_new(key));
  add(key, {slot, bytes, {}, false});
  return {};
}

base::Status Guests::fill(ClientId client, const segment::VersionId& id, ChunkName name, std::uint64_t length,
                          const base::Hash128& hash) {
  const auto known = guests_.find({client, id, name});
  if (known == guests_.end())
    return base::fail(PERDURE_NOT_FOUND, text_of(id, name), "no slot was taken for it by this client");
  Guest& guest = known->second;
  const bool same = guest.length == length && guest.hash == hash;
  if (guest.filled ? !same : length > guest.length)
    return base::fail(
        PERDURE_INVALID_ARGUMENT, text_of(id, name),
        guest.filled ? "it was filled with something else" : "it is longer than what its slot was taken for");
  guest = {guest.slot, length, hash, true};
  node_.tiers[guest.slot.first]->written(guest.slot.second);
  return {};
}

base::Status Guests::host(ClientId client, const segment::VersionId& id, const Chunks& chunks) {
  for (const auto& [name, chunk] : chunks) PERDURE_CHECK(check_new({client, id, name}));
  for (const auto& [name, chunk] : chunks) {
    add({client, id, name}, {{chunk.place, chunk.offset}, chunk.length, chunk.hash, true});
    node_.tiers[chunk.place]->written(chunk.offset);
  }
  return {};
}

const Guest* Guests::find(ClientId client, const segment::VersionId& id, ChunkName name) const {
  const auto known = guests_.find({client, id, name});
  return known == guests_.end() ? nullptr : &known->second;
}

std::map<ChunkName, Guest> Guests::filled(const segment::VersionId& id, ChunkName from) const {
  std::map<ChunkName, Guest> all;
  for (const ClientId client : clients_)
    for (auto it = guests_.lower_bound({client, id, from}); it != guests_.end(); ++it) {
      if (it->first.client != client || it->first.id != id) break;
      if (it->second.filled) all.emplace(it->first.name, it->second);
    }
  return all;
}

ipc::GuestChunk Guests::in_message(ChunkName name, const Guest& guest) const {
  ipc::SlotAddress slot = address_in_message(node_.tiers[guest.slot.first]->address(guest.slot.second));
  slot.fresh = false;
  return {name.rank, name.chunk, std::move(slot), guest.length, guest.hash};
}

template <class Which>
void Guests::go_if(ClientId client, Which which) {
  for (auto it = guests_.lower_bound({client, {}, {}}); it != guests_.end() && it->first.client == client;) {
    if (!which(it->first)) {
      ++it;
      continue;
    }
    const SlotKey slot = it->second.slot;
    it = guests_.erase(it);
    (void)node_.slots.happens(slot, SlotEvent::free);
  }
}

void Guests::go(ClientId client, const segment::VersionId& id) {
  go_if(client, [&id](const Key& key) { return key.id == id; });
}

void Guests::client_gone(ClientId client) {
  clients_.erase(client);
  go_if(client, [](const Key&) { return true; });
}

}  // namespace perdure::engine
