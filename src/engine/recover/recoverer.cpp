#include "engine/recover/recoverer.hpp"

#include "engine/recover/piece_exporter.hpp"
#include "os/crash_point.hpp"
#include "os/thread.hpp"

namespace perdure::engine {

struct Recoverer::Work {
  Work(const segment::VersionId& of, std::vector<ExportedPieces> all, PieceLink& nodes)
      : id(of), exported(std::move(all)), reconstruction(exported), link(nodes) {}
  const segment::VersionId& id;
  std::vector<ExportedPieces> exported;
  std::mutex mutex;  // of all that follows
  Reconstruction reconstruction;
  PieceLink& link;  // its positions are the exporters, but for the parity servers after them
  std::optional<unsigned> own;
  tier::SlotIo slots;
  std::vector<segment::Piece> pieces;
  std::vector<std::vector<std::optional<segment::ChunkEntry>>> done;
  std::vector<ipc::RankRecovery> ranks;
  std::vector<Chunk> chunks;
  std::size_t next = 0;
  std::map<unsigned, std::vector<BlockPlace>> suspects;  // by exporter: blocks that did not match their hashes
  base::Status outcome;
};

// Who does not answer counts as lost: the others may have enough.
std::vector<ExportedPieces> Recoverer::gather(const ipc::Recover& request, std::optional<unsigned> own,
                                              ExportCollection& collection) {
  auto exported = collection.collect(own, threads_, stopping_, [&](unsigned position, const base::Error& why) {
    if (!stopping_)
      reports_.add(request.id.text() + ": node " + request.nodes[position].node +
                   " does not say what it has: " + why.text() + "; it counts as lost");
  });
  if (own) {
    exported[*own] = export_pieces(ledger_, collection.question(*own),
                                   [this](const tier::SlotAddress& slot) { return network_->place(slot); });
    exported[*own].address = request.nodes[*own].address;
  }
  for (auto& node : exported)
    std::erase_if(node.parts, [&](const auto& part) { return part.redundancy_set.id.version != request.id; });
  if (parity_ == nullptr) return exported;
  for (auto& kept : pieces_at_servers(*parity_, exported)) exported.push_back(std::move(kept));
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

base::Result<std::vector<ipc::RankRecovery>> Recoverer::recover(const ipc::Recover& request) {
  std::vector<PieceNetwork::Address> addresses;
  std::optional<unsigned> own;
  for (const auto& node : request.nodes) {
    if (node.address.empty()) return base::fail(PERDURE_INVALID_ARGUMENT, "node " + node.node, "it has no address");
    if (node.address == network_->address()) own = static_cast<unsigned>(addresses.size());
    addresses.push_back(node.address);
  }
  const auto link = network_->connect(addresses);
  use(link.get());
  auto recovered = base::caught(request.id.text(), [&] { return recover_over(*link, request, own); });
  use(nullptr);
  return recovered;
}

base::Result<std::vector<ipc::RankRecovery>> Recoverer::recover_over(PieceLink& link, const ipc::Recover& request,
                                                                     std::optional<unsigned> own) {
  ExportCollection collection(link, request.id, request.nodes);  // what others export stays until this ends
  Work work(request.id, gather(request, own, collection), link);
  work.own = own;
  for (const std::uint32_t rank : request.wanted) {
    if (held_here(request.id, rank)) continue;
    PERDURE_TRY(auto piece, work.reconstruction.piece(rank));
    for (std::uint32_t c = 0; c < piece.chunks.size(); ++c) work.chunks.push_back({work.pieces.size(), c});
    work.done.emplace_back(piece.chunks.size());
    work.pieces.push_back(std::move(piece));
    work.ranks.push_back({rank, 0, 0});
  }
  run_all(work);
  tell_suspects(work, collection);
  if (work.outcome) work.outcome = base::caught(request.id.text(), [&] { return stage(request, work); });
  give_back(work);
  if (!work.outcome) return base::fail(work.outcome.error());
  return work.ranks;
}

// Who has a bad block looks at it, and records it. What cannot be told is met again.
void Recoverer::tell_suspects(Work& work, ExportCollection& collection) {
  (void)base::caught(work.id.text(), [&]() -> base::Status {
    for (auto& [holder, blocks] : work.suspects) {
      if (work.own != holder)
        collection.suspect(holder, blocks);
      else
        PERDURE_CHECK(judge(ledger_, work.id, work.exported[holder], blocks));
    }
    return {};
  });
}

// Threads that are refused leave more to the others: this one is there.
void Recoverer::run_all(Work& work) {
  const auto failed = [&work](const base::Error& why) {
    std::lock_guard guard(work.mutex);
    if (work.outcome) work.outcome = base::fail(why);
    return false;
  };
  os::Threads threads;  // which are waited for
  for (unsigned i = 1; i < std::min<std::size_t>(threads_, work.chunks.size()); ++i) {
    if (!threads.start(
            "recovery helper", [this, &work] { run(work); }, failed))
      break;
  }
  const base::Status ran = base::caught(work.id.text(), [&]() -> base::Status {
    run(work);
    return {};
  });
  if (!ran) (void)failed(ran.error());
}

bool Recoverer::held_here(const segment::VersionId& id, std::uint32_t rank) {
  const auto ledger = ledger_.lock();
  const auto* held = ledger->find(id);
  return held != nullptr && held->restorable(rank);
}

void Recoverer::run(Work& work) {
  std::unique_lock guard(work.mutex);
  while (work.outcome && work.next < work.chunks.size()) {
    const Chunk which = work.chunks[work.next++];
    guard.unlock();
    auto outcome = recover_chunk(work, which);
    guard.lock();
    if (!outcome && work.outcome) work.outcome = std::move(outcome);
  }
}

// Each failure leaves a source out, so that this ends.
base::Status Recoverer::recover_chunk(Work& work, const Chunk& which) {
  const std::uint32_t rank = work.pieces[which.piece].rank;
  for (;;) {
    if (stopping_) return base::fail(PERDURE_CLOSED, work.id.text(), "the engine ends");
    ReconstructionTask task;
    {
      std::lock_guard guard(work.mutex);
      PERDURE_TRY(task, work.reconstruction.task(rank, which.chunk));
    }
    const base::Status tried = try_once(work, which, task);
    if (tried) return {};
    if (tried.error().code == PERDURE_NO_SPACE || tried.error().code == PERDURE_CLOSED) return tried;
  }
}

// From what the engines export, block by block.
base::Result<segment::ChunkEntry> Recoverer::make(Work& work, const ReconstructionTask& task,
                                                  const tier::SlotAddress& slot, FaultySource& culprit) {
  for (const auto& source : task.task.sources)
    if (work.exported[source.holder].address.empty()) {
      auto chunk = make_at_server(work, task, slot, source);
      if (!chunk && chunk.error().code == PERDURE_CORRUPT)
        culprit.bad = source.block;
      else if (!chunk)
        culprit.unreachable = source.holder;
      return chunk;
    }
  BlockReader reader;
  reader.view = [&](const EncodingTask::Source& source) -> std::optional<BlockView> {
    if (work.own == source.holder) return network_->view(source.place, source.length);
    return work.link.view(source.holder, source.place, source.length);
  };
  reader.read = [&](const EncodingTask::Source& source, std::uint64_t offset, base::ByteSpan target) -> base::Status {
    auto done = work.link.read(source.holder, source.place, offset, target);
    if (!done) culprit.unreachable = source.holder;
    return done;
  };
  BlockEncoder encoder(std::move(reader), work.slots);
  return encoder.encode(task.task, slot, &culprit.bad);
}

// The parity server reads the survivors, and hands out what is lost. Any other failure than a wrong result is taken for
// the server's: without it there is nothing to be had of this stripe.
base::Result<segment::ChunkEntry> Recoverer::make_at_server(Work& work, const ReconstructionTask& task,
                                                            const tier::SlotAddress& slot,
                                                            const EncodingTask::Source& parity) {
  if (parity_ == nullptr || !task.task.hash)
    return base::fail(PERDURE_UNAVAILABLE, work.id.text(), "this engine knows no parity server",
                      "set redundancy.parity_servers");
  const auto& record = work.exported[parity.holder].parts.front().redundancy_set;
  std::vector<ParityStore::Survivor> survivors;
  std::vector<BlockView> views;
  for (const auto& source : task.task.sources) {
    if (source.holder == parity.holder) continue;
    ParityStore::Survivor survivor{source, work.exported[source.holder].address, {}};
    if (work.own == source.holder) {
      auto view = network_->view(source.place, source.length);
      if (!view) return base::fail(PERDURE_UNAVAILABLE, work.id.text(), "a slot of this node cannot be read");
      survivor.address.clear();
      survivor.here = view->bytes;
      views.push_back(std::move(*view));
    }
    survivors.push_back(std::move(survivor));
  }
  std::vector<std::byte> target(task.task.length);
  PERDURE_CHECK(parity_->rebuild({record.id, record.group}, {task.block.position, task.block.number, *task.task.hash},
                                 survivors, target));
  PERDURE_CHECK(work.slots.prepare(slot, target.size()));
  base::Hasher hasher;
  PERDURE_CHECK(work.slots.write(slot, 0, target, hasher));
  return segment::ChunkEntry{slot.slot, target.size(), hasher.digest(), slot.tier};
}

base::Status Recoverer::try_once(Work& work, const Chunk& which, const ReconstructionTask& task) {
  tier::SlotAddress slot;
  {
    const auto ledger = ledger_.lock();
    PERDURE_TRY(slot, ledger->room.take_for_redundancy(work.id, task.task.length));
  }
  FaultySource found;
  const auto chunk = base::caught(work.id.text(), [&] { return make(work, task, slot, found); });
  std::lock_guard guard(work.mutex);
  if (chunk) {
    work.done[which.piece][which.chunk] = *chunk;
    (task.rebuilt ? work.ranks[which.piece].bytes_rebuilt : work.ranks[which.piece].bytes_moved) += chunk->length;
    return {};
  }
  {
    const auto ledger = ledger_.lock();
    ledger->room.give_back({slot.tier, slot.slot});
  }
  if (chunk.error().code != PERDURE_CORRUPT && !found.unreachable)
    return base::fail(PERDURE_NO_SPACE, chunk.error().object, chunk.error().text(), "", true);
  EncodingTask::Source culprit = task.task.sources.back();  // of a wrong result: a parity, which comes last
  for (const auto& source : task.task.sources)
    if (found.bad && source.block == *found.bad) culprit = source;
  if (found.bad && !found.unreachable) work.suspects[culprit.holder].push_back(culprit.place);
  reports_.add(work.id.text() + ": " + chunk.error().text() + "; it counts as lost");
  if (found.unreachable)
    work.reconstruction.gone(*found.unreachable);
  else
    work.reconstruction.damaged(culprit);
  return base::fail(chunk.error());
}

base::Status Recoverer::stage(const ipc::Recover& request, Work& work) {
  for (std::size_t p = 0; p < work.pieces.size(); ++p) {
    segment::Piece piece = work.pieces[p];
    for (std::size_t c = 0; c < piece.chunks.size(); ++c) piece.chunks[c] = *work.done[p][c];
    os::crash_point(os::CrashPoint::recover_before_catalog);
    const auto ledger = ledger_.lock();
    PERDURE_CHECK(ledger->held.adopt(request.id, request.ranks, piece));
    os::crash_point(os::CrashPoint::recover_after_catalog);
    work.done[p].clear();
  }
  return {};
}

void Recoverer::give_back(const Work& work) {
  const auto ledger = ledger_.lock();
  for (const auto& piece : work.done)
    for (const auto& chunk : piece)
      if (chunk) ledger->room.give_back({chunk->place, chunk->offset});
}

}  // namespace perdure::engine
