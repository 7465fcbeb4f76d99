#include "engine/recover/recoverer.hpp"

#include <algorithm>

#include "engine/recover/piece_exporter.hpp"
#include "os/crash_point.hpp"

namespace perdure::engine {
namespace {

base::Status want_chunks(ChunkRecovery& recovery, const std::vector<ipc::WantedChunk>& wanted,
                         const std::set<ChunkName>& here) {
  std::optional<segment::Piece> piece;
  for (const auto& [rank, chunk] : wanted) {
    if (here.contains({rank, chunk})) continue;
    if (!piece || piece->rank != rank) {
      PERDURE_TRY(piece, recovery.piece(rank));
    }
    if (chunk >= piece->chunks.size())
      return base::fail(PERDURE_INVALID_ARGUMENT, "rank " + std::to_string(rank) + ", chunk " + std::to_string(chunk),
                        "its piece has " + std::to_string(piece->chunks.size()) + " chunks");
    recovery.want({rank, chunk});
  }
  return {};
}

// Callers ask again for chunks that had no room. So a call that makes none fails, or that would go on for ever. Remains
// of other versions are evicted only if no chunk could be made otherwise.
base::Status make_some(ChunkRecovery& recovery, const segment::VersionId& id) {
  const auto any_made = [&] {
    const auto& items = recovery.items();
    return items.empty() || std::any_of(items.begin(), items.end(), [](const auto& item) { return item.made; });
  };
  for (const auto room : {EvictionScope::stored, EvictionScope::remains}) {
    PERDURE_CHECK(recovery.run(ChunkRecovery::Wanted::some, room));
    if (any_made()) return {};
  }
  return base::fail(PERDURE_NO_SPACE, id.text(), "no tier has room for a chunk that other nodes have",
                    "raise tier.memory.max_bytes or tier.file.max_bytes", true);
}

/// Describes a chunk that is verified in its slot.
Guest filled_guest(const segment::ChunkEntry& chunk) {
  return {{chunk.place, chunk.offset}, chunk.length, chunk.hash, true};
}

// Pieces that do not fit into a reply are left for the next.
base::Result<ipc::PieceDescriptions> described(const ipc::DescribePieces& request,
                                               const std::vector<ExportedPieces>& exported) {
  const Reconstruction reconstruction(exported);
  ipc::PieceDescriptions reply;
  for (const std::uint32_t rank : request.wanted)
    if (auto piece = reconstruction.piece(rank))
      reply.pieces.push_back(
          {rank, piece->chunk_bytes, static_cast<std::uint32_t>(piece->chunks.size()), std::move(piece->regions)});
  const std::size_t told = ipc::fitting(reply.pieces);
  if (told == 0 && !reply.pieces.empty())
    return base::fail(PERDURE_NO_SPACE, request.id.text() + ", rank " + std::to_string(reply.pieces.front().rank),
                      "its regions cannot be described in a message");
  reply.all = told == reply.pieces.size();
  reply.pieces.resize(told);
  return reply;
}

}  // namespace

// A node that does not answer counts as lost, since the others may have enough.
template <class Request>
std::vector<ExportedPieces> Recoverer::gather(const Request& request, const AskedNodes& nodes,
                                              ExportCollection& collection) {
  auto exported =
      collection.collect(nodes.own, context_.threads, stopping_, [&](unsigned position, const base::Error& why) {
        if (!stopping_)
          context_.reports.add(request.id.text() + ": node " + request.nodes[position].node +
                               " does not say what it has: " + why.text() + "; it counts as lost");
      });
  if (nodes.own) {
    exported[*nodes.own] =
        export_pieces(context_.ledger, collection.question(*nodes.own),
                      [this](const tier::SlotAddress& slot) { return context_.network->place(slot); });
    exported[*nodes.own].address = request.nodes[*nodes.own].address;
  }
  for (auto& node : exported)
    std::erase_if(node.parts, [&](const auto& part) { return part.redundancy_set.id.version != request.id; });
  return exported;
}

std::vector<ExportedPieces> Recoverer::with_servers(std::vector<ExportedPieces> exported) {
  if (context_.parity == nullptr) return exported;
  for (auto& kept : pieces_at_servers(*context_.parity, exported)) exported.push_back(std::move(kept));
  return exported;
}

void Recoverer::break_off() {
  stopping_ = true;
  std::lock_guard guard(link_mutex_);
  if (link_ != nullptr) link_->close();
}

void Recoverer::use(PieceLink* link) {
  std::lock_guard guard(link_mutex_);
  link_ = link;
  if (link != nullptr && stopping_) link->close();
}

// Calls work() with a link to the nodes that the request names.
template <class Request, class Work>
base::Result<typename Request::Reply> Recoverer::asking(const Request& request, const Work& work) {
  std::vector<PieceNetwork::Address> addresses;
  std::optional<unsigned> own;
  for (const auto& node : request.nodes) {
    if (node.address.empty()) return base::fail(PERDURE_INVALID_ARGUMENT, "node " + node.node, "it has no address");
    if (node.address == context_.network->address()) own = static_cast<unsigned>(addresses.size());
    addresses.push_back(node.address);
  }
  const auto link = context_.network->connect(addresses);
  use(link.get());
  auto done = base::caught(request.id, [&]() -> base::Result<typename Request::Reply> {
    return work(AskedNodes{*link, own});
  });
  use(nullptr);
  return done;
}

base::Result<ipc::Recovered> Recoverer::answer(ClientId, const ipc::Recover& request) {
  return asking(request, [&](const AskedNodes& nodes) -> base::Result<ipc::Recovered> {
    // the exports of other nodes stay until this ends
    ExportCollection collection(nodes.link, request.id, request.nodes);
    ChunkRecovery recovery(context_, stopping_, nodes, request.id, with_servers(gather(request, nodes, collection)));
    std::vector<segment::Piece> pieces;
    ipc::Recovered recovered;
    for (const std::uint32_t rank : request.wanted) {
      if (held_here(request.id, rank)) continue;
      PERDURE_TRY(auto piece, recovery.piece(rank));
      for (std::uint32_t c = 0; c < piece.chunks.size(); ++c) recovery.want({rank, c});
      pieces.push_back(std::move(piece));
      recovered.ranks.push_back({rank, 0, 0});
    }
    const base::Status ran = recovery.run(ChunkRecovery::Wanted::all, EvictionScope::remains);
    recovery.tell_suspects(collection);
    PERDURE_CHECK(ran);
    auto item = recovery.items().begin();
    for (std::size_t p = 0; p < pieces.size(); ++p)
      for (std::size_t c = 0; c < pieces[p].chunks.size(); ++c, ++item)
        (item->rebuilt ? recovered.ranks[p].bytes_rebuilt : recovered.ranks[p].bytes_moved) += item->made->length;
    PERDURE_CHECK(stage(request, pieces, recovery));
    return recovered;
  });
}

bool Recoverer::held_here(const segment::VersionId& id, std::uint32_t rank) {
  const auto ledger = context_.ledger.lock();
  const auto* held = ledger->find(id);
  return held != nullptr && held->restorable(rank);
}

// Their items are in the order of the pieces' chunks.
base::Status Recoverer::stage(const ipc::Recover& request, const std::vector<segment::Piece>& pieces,
                              ChunkRecovery& recovery) {
  auto item = recovery.items().begin();
  for (segment::Piece piece : pieces) {
    const auto first = item;
    for (auto& chunk : piece.chunks) chunk = *(item++)->made;
    os::crash_point(os::CrashPoint::recover_before_catalog);
    const auto ledger = context_.ledger.lock();
    PERDURE_CHECK(ledger->held.adopt(request.id, request.ranks, piece));
    os::crash_point(os::CrashPoint::recover_after_catalog);
    std::for_each(first, item, [](auto& staged) { staged.made.reset(); });
  }
  return {};
}

base::Result<ipc::RecoveredGuests> Recoverer::answer(ClientId client, const ipc::RecoverGuests& request) {
  return asking(request, [&](const AskedNodes& nodes) -> base::Result<ipc::RecoveredGuests> {
    ExportCollection collection(nodes.link, request.id, request.nodes);
    ChunkRecovery recovery(context_, stopping_, nodes, request.id, with_servers(gather(request, nodes, collection)));
    PERDURE_CHECK(want_chunks(recovery, request.wanted, filled_of(client, request)));
    const base::Status made = make_some(recovery, request.id);
    recovery.tell_suspects(collection);
    PERDURE_CHECK(made);
    return host(client, request, recovery);
  });
}

std::set<ChunkName> Recoverer::filled_of(ClientId client, const ipc::RecoverGuests& request) {
  std::set<ChunkName> filled;
  const auto ledger = context_.ledger.lock();
  for (const auto& [rank, chunk] : request.wanted)
    if (const Guest* guest = ledger->guests.find(client, request.id, {rank, chunk}); guest != nullptr && guest->filled)
      filled.insert({rank, chunk});
  return filled;
}

// Guests that do not fit into the reply are released, since nobody would know of them.
base::Result<ipc::RecoveredGuests> Recoverer::host(ClientId client, const ipc::RecoverGuests& request,
                                                   ChunkRecovery& recovery) {
  std::map<ChunkName, ChunkRecovery::Item*> made;
  for (auto& item : recovery.items())
    if (item.made) made.emplace(item.name, &item);
  ipc::RecoveredGuests brought;
  const auto ledger = context_.ledger.lock();
  for (const auto& [rank, chunk] : request.wanted) {
    const ChunkName name{rank, chunk};
    const Guest* guest = ledger->guests.find(client, request.id, name);
    if (const auto now = made.find(name); now != made.end())
      brought.guests.push_back(ledger->guests.in_message(name, filled_guest(*now->second->made)));
    else if (guest != nullptr && guest->filled)
      brought.guests.push_back(ledger->guests.in_message(name, *guest));
  }
  brought.guests.resize(ipc::fitting(brought.guests));
  brought.all = brought.guests.size() == request.wanted.size();
  Guests::Chunks hosted;
  for (const auto& guest : brought.guests)
    if (const auto now = made.find({guest.rank, guest.chunk}); now != made.end())
      hosted[now->first] = *now->second->made;
  PERDURE_CHECK(ledger->guests.host(client, request.id, hosted));
  for (const auto& [name, entry] : hosted) {
    ChunkRecovery::Item& item = *made[name];
    (item.rebuilt ? brought.bytes_rebuilt : brought.bytes_moved) += entry.length;
    item.made.reset();
  }
  return brought;
}

base::Result<ipc::PieceDescriptions> Recoverer::answer(ClientId, const ipc::DescribePieces& request) {
  // Nobody reads chunks for it, so no place has to be named.
  const auto no_place = [&](const tier::SlotAddress&) -> base::Result<BlockPlace> {
    return base::fail(PERDURE_UNSUPPORTED, request.id.text(), "its chunks are not exported");
  };
  std::vector<ExportedPieces> exported = {
      export_pieces(context_.ledger, {0, request.id, request.wanted, request.wanted, 0}, no_place)};
  if (request.nodes.empty()) return described(request, exported);
  return asking(request, [&](const AskedNodes& nodes) -> base::Result<ipc::PieceDescriptions> {
    ExportCollection collection(nodes.link, request.id, request.nodes);
    for (auto& node : gather(request, nodes, collection)) exported.push_back(std::move(node));
    return described(request, exported);
  });
}

}  // namespace perdure::engine
