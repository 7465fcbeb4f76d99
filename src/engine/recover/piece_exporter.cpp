#include "engine/recover/piece_exporter.hpp"

#include <algorithm>

#include "os/crash_point.hpp"
#include "os/system.hpp"
#include "tier/slot_io.hpp"

namespace perdure::engine {
namespace {

using Ranks = std::vector<std::uint32_t>;

bool among(const Ranks& ranks, std::uint32_t rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

bool serves(const catalog::RedundancySet& redundancy_set, const Ranks& ranks) {
  return std::any_of(redundancy_set.members.begin(), redundancy_set.members.end(), [&](const auto& pieces) {
    return std::any_of(pieces.begin(), pieces.end(), [&](const auto& piece) { return among(ranks, piece.rank); });
  });
}

// No client has such a number, and neither has the redundancy's owner.
ClientId new_owner() { return (os::random_u64() >> 2U) | (ClientId{1} << 63U); }

/// A block of this node: a chunk of a piece, or a redundancy block.
struct OwnBlock {
  tier::SlotAddress slot;
  std::uint64_t length = 0;
  base::Hash128 hash;
};

std::optional<OwnBlock> chunk_here(const NodeState& state, const segment::VersionId& id, std::uint32_t rank,
                                   std::uint32_t chunk) {
  for (const auto& held : state.held.export_pieces(id).pieces)
    if (held.piece.rank == rank && chunk < held.slots.size() && held.slots[chunk])
      return OwnBlock{*held.slots[chunk], held.piece.chunks[chunk].length, held.piece.chunks[chunk].hash};
  return std::nullopt;
}

std::optional<OwnBlock> kept_here(const NodeState& state, const catalog::RedundancyId& id,
                                  const catalog::BlockName& name) {
  const auto* kept = state.redundancy.find(id);
  if (kept == nullptr) return std::nullopt;
  const auto block = kept->kept.find(name);
  if (block == kept->kept.end()) return std::nullopt;
  return OwnBlock{state.address(block->second), block->second.length, block->second.hash};
}

base::Result<bool> is_good(tier::SlotIo& slots, const OwnBlock& block) {
  std::vector<std::byte> buffer(std::min<std::uint64_t>(block.length, base::MiB));
  base::Hasher hasher;
  for (std::uint64_t done = 0; done < block.length;) {
    const auto part = base::ByteSpan(buffer).first(std::min<std::uint64_t>(buffer.size(), block.length - done));
    PERDURE_CHECK(slots.read(block.slot, done, part, hasher));
    done += part.size();
  }
  return hasher.digest() == block.hash;
}

constexpr const char* kBad = "another node found that it does not match its hash, and so did this one";

// Finds the block under the lock, with its version pinned, and calls record() under the lock if it is bad.
template <class Find, class Record>
base::Status judge_block(Ledger& ledger, const segment::VersionId& id, const Find& find, const Record& record) {
  const ClientId owner = new_owner();
  std::optional<OwnBlock> block;
  {
    const auto state = ledger.lock();
    block = find(*state);
    if (block) state->held.pin(owner, id);
  }
  if (!block) return {};
  tier::SlotIo slots;
  const auto good = base::caught(id, [&] { return is_good(slots, *block); });
  const auto state = ledger.lock();
  base::Status done;
  if (good && !*good) done = base::caught(id, [&] { return record(*state); });
  state->held.unpin(owner, id);
  return good ? done : base::Status(base::fail(good.error()));
}

bool same_question(const ExportQuestion& a, const ExportQuestion& b) {
  return a.id == b.id && a.pieces == b.pieces && a.redundancy == b.redundancy;
}

}  // namespace

ExportedPieces export_pieces(Ledger& ledger, const ExportQuestion& question, const PlaceSlot& place) {
  Exported held;
  std::vector<std::map<catalog::BlockName, tier::SlotAddress>> kept;  // by redundancy set of `held`
  {
    const auto state = ledger.lock();
    held = state->held.export_pieces(question.id);
    std::erase_if(held.pieces, [&](const auto& piece) { return !among(question.pieces, piece.piece.rank); });
    std::erase_if(held.redundancy_sets, [&](const auto& set) { return !serves(set, question.redundancy); });
    for (const auto& redundancy_set : held.redundancy_sets)
      for (auto& slots = kept.emplace_back(); const auto& [name, chunk] : redundancy_set.kept)
        slots[name] = state->address(chunk);
  }
  ExportedPieces exported;
  const auto placed = [&](const tier::SlotAddress& slot) -> std::optional<BlockPlace> {
    auto made = place(slot);
    return made ? std::optional(std::move(*made)) : std::nullopt;
  };
  for (auto& piece : held.pieces) {
    auto& part = exported.pieces.emplace_back(ExportedPieces::Piece{std::move(piece.piece), {}});
    for (const auto& slot : piece.slots) part.places.push_back(slot ? placed(*slot) : std::nullopt);
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    ExportedPieces::Part part{std::move(held.redundancy_sets[i]), {}};
    for (const auto& [name, slot] : kept[i])
      if (auto made = placed(slot)) part.places[name] = std::move(*made);
    exported.parts.push_back(std::move(part));
  }
  return exported;
}

base::Status judge(Ledger& ledger, const segment::VersionId& id, const ExportedPieces& exported,
                   const std::vector<BlockPlace>& suspects) {
  const std::set<BlockPlace> places(suspects.begin(), suspects.end());
  for (const auto& [piece, of_chunks] : exported.pieces)
    for (std::uint32_t c = 0; c < of_chunks.size(); ++c) {
      if (!of_chunks[c] || !places.contains(*of_chunks[c])) continue;
      const std::uint32_t rank = piece.rank, chunk = c;
      PERDURE_CHECK(judge_block(
          ledger, id, [&](const NodeState& state) { return chunk_here(state, id, rank, chunk); },
          [&](NodeState& state) {
            return state.held.quarantine({id, rank, chunk, kBad});
          }));
    }
  for (const auto& part : exported.parts)
    for (const auto& [name, place] : part.places) {
      if (!places.contains(place)) continue;
      const catalog::RedundancyId& of = part.redundancy_set.id;
      const catalog::BlockName& block = name;
      PERDURE_CHECK(judge_block(
          ledger, id, [&](const NodeState& state) { return kept_here(state, of, block); },
          [&](NodeState& state) { return state.redundancy.bad_block(of, block, kBad); }));
    }
  return {};
}

base::Result<ExportAnswer> PieceExporter::answer(std::uint64_t peer, const ExportQuestion& question) {
  const Key key{peer, question.recovery};
  auto answered = [&] {
    const auto state = state_.lock();
    return answer(*state, key, question);
  }();
  // The peer's loss may have been noticed before the question reached a thread. It would not be noticed again.
  if (!context_.there(peer)) lost(peer);
  return answered;
}

base::Result<ExportAnswer> PieceExporter::answer(State& state, const Key& key, const ExportQuestion& question) {
  const std::string object = question.id.text();
  const bool over = std::find(state.ended.begin(), state.ended.end(), key) != state.ended.end();
  if (closed_ || over) return base::fail(PERDURE_CLOSED, object, "its recovery is over");
  auto known = state.exports.find(key);
  if (known == state.exports.end()) {
    const auto of_peer = std::count_if(state.exports.begin(), state.exports.end(),
                                       [&](const auto& entry) { return entry.first.first == key.first; });
    if (static_cast<std::size_t>(of_peer) >= kMostOfAPeer)
      return base::fail(PERDURE_BUSY, object, "too many recoveries of one node are under way");
    if (question.offset != 0)
      return base::fail(PERDURE_PEER_FAILED, object, "what was exported ended with a connection", {}, true);
    PERDURE_CHECK(begin_thread(state));
    const ClientId owner = new_owner();
    state.exports.emplace(key, Export{question, owner, nullptr});
    {
      const auto ledger = ledger_.lock();
      ledger->held.pin(owner, question.id);
    }
    state.to_make.push_back(key);
    wake_.notify_one();
    return ExportAnswer{};
  }
  const Export& exported = known->second;
  if (!same_question(exported.question, question))
    return base::fail(PERDURE_CORRUPT, object, "a recovery asks for something else than before");
  if (exported.failure) return base::fail(*exported.failure);
  if (exported.bytes == nullptr) return ExportAnswer{};
  const auto& bytes = *exported.bytes;
  if (question.offset > bytes.size()) return base::fail(PERDURE_CORRUPT, object, "it asks beyond the answer's end");
  os::crash_point(os::CrashPoint::export_answered);
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(question.offset);
  const auto length = std::min<std::size_t>(bytes.size() - question.offset, kPartBytes);
  return ExportAnswer{true, bytes.size(), {begin, begin + static_cast<std::ptrdiff_t>(length)}};
}

void PieceExporter::end_if(const std::function<bool(const Key&)>& which, const Key* named) {
  std::vector<ClientId> owners;
  {
    const auto state = state_.lock();
    for (auto it = state->exports.begin(); it != state->exports.end();) {
      if (which(it->first)) {
        owners.push_back(it->second.owner);
        it = state->exports.erase(it);
      } else {
        ++it;
      }
    }
    if (named != nullptr) state->ended.push_back(*named);
    if (state->ended.size() > kEndedRemembered) state->ended.pop_front();
  }
  if (owners.empty()) return;
  {
    const auto ledger = ledger_.lock();
    for (const ClientId owner : owners) ledger->held.unpin(owner);
  }
  context_.changed();
}

void PieceExporter::end(std::uint64_t peer, std::uint64_t recovery, const std::vector<BlockPlace>& suspects) {
  const Key key{peer, recovery};
  if (!suspects.empty()) {
    const auto state = state_.lock();
    const auto known = state->exports.find(key);
    if (known != state->exports.end() && known->second.bytes != nullptr) {
      state->to_judge.push_back({known->second.question.id, known->second.bytes, suspects});
      wake_.notify_one();
    }
  }
  end_if([&](const Key& other) { return other == key; }, &key);
}

void PieceExporter::lost(std::uint64_t peer) {
  end_if([&](const Key& key) { return key.first == peer; }, nullptr);
}

void PieceExporter::end_all() {
  end_if([](const Key&) { return true; }, nullptr);
}

void PieceExporter::close() {
  {
    const auto state = state_.lock();
    closed_ = true;
  }
  wake_.notify_all();
  end_all();
}

void PieceExporter::stop() {
  close();
  os::Thread thread;  // joined without the lock
  {
    const auto state = state_.lock();
    thread = std::move(state->thread);
  }
  thread.join();
}

base::Status PieceExporter::begin_thread(State& state) {
  if (state.thread.joinable()) return {};
  PERDURE_TRY(state.thread, os::Thread::start(
                                "exporter", [this] { run(); }, [this](const base::Error&) { return !closed_; }));
  return {};
}

base::Result<ExportedPieces> PieceExporter::make(const ExportQuestion& question) {
  auto exported = export_pieces(ledger_, question, [this](const tier::SlotAddress& slot) -> base::Result<BlockPlace> {
    if (closed_) return base::fail(PERDURE_CLOSED, slot.path, "the engine ends, or another launch begins");
    return context_.place(slot);
  });
  exported.address = context_.address;
  return exported;
}

// A block that cannot be read now will be noticed again by its next reader.
void PieceExporter::judge_one(const Suspects& suspects) {
  (void)base::caught(suspects.id, [&]() -> base::Status {
    PERDURE_TRY(const auto exported, decode_exported_pieces(*suspects.bytes));
    return judge(ledger_, suspects.id, exported, suspects.blocks);
  });
}

void PieceExporter::run() {
  for (;;) {
    Key key;
    ExportQuestion question;
    ClientId owner = 0;  // distinguishes exports of one key
    std::optional<Suspects> suspects;
    {
      auto state = state_.lock();
      state.wait(wake_, [&] { return closed_ || !state->to_make.empty() || !state->to_judge.empty(); });
      if (closed_) return;
      if (state->to_make.empty()) {
        suspects = std::move(state->to_judge.front());
        state->to_judge.pop_front();
      }
    }
    if (suspects) {
      judge_one(*suspects);
      continue;
    }
    {
      const auto state = state_.lock();
      if (state->to_make.empty()) continue;
      key = state->to_make.front();
      state->to_make.pop_front();
      const auto known = state->exports.find(key);
      if (known == state->exports.end()) continue;
      question = known->second.question;
      owner = known->second.owner;
    }
    using Bytes = std::shared_ptr<const std::vector<std::byte>>;
    auto bytes = base::caught(question.id, [&]() -> base::Result<Bytes> {
      PERDURE_TRY(const auto exported, make(question));
      return std::make_shared<const std::vector<std::byte>>(encode(exported));
    });
    const auto state = state_.lock();
    const auto known = state->exports.find(key);
    if (known == state->exports.end() || known->second.owner != owner) continue;
    if (bytes)
      known->second.bytes = std::move(*bytes);
    else
      known->second.failure = std::move(bytes).error();
  }
}

}  // namespace perdure::engine
