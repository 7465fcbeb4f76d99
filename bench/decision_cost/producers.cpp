#include "producers.hpp"

namespace perdure::decision_cost {
namespace {

using engine::GrantOutcome;

// Memory is always worth a wait, and the other tier never worth taking. Only the decision's cost is measured, so it
// must not depend on the speed of "flushes" here.
constexpr double kMemoryBytesPerS = 1e14, kSsdBytesPerS = 1e6;
constexpr std::uint64_t kMemorySlotBytes = 2U << 20U;  // the minimum that the tier gives
constexpr std::uint64_t kSsdSlots = 8192;

engine::NodeStateOptions placing(const std::string& policy) {
  engine::NodeStateOptions options;
  options.policy = placement::find_policy(policy).value();
  options.models = {{placement::DeviceModel::assumed(kMemoryBytesPerS)},
                    {placement::DeviceModel::assumed(kSsdBytesPerS)}};
  options.flush_threads = 16;
  options.chunk_bytes = 4 * kChunkBytes;  // so that the engine learns nothing from writes that do not happen
  options.during_capture = engine::DuringCapture::automatic;
  return options;
}

ipc::PlannedSegment all_ranks() {
  ipc::PlannedSegment segment{0, 1, {}};
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) segment.ranks.push_back(rank);
  return segment;
}

segment::Piece piece_of(std::uint32_t rank, std::uint32_t chunks) {
  segment::Piece piece{rank, kChunkBytes, {{0, 1, kChunkBytes * chunks}}, {}};
  for (std::uint32_t c = 0; c < chunks; ++c) piece.chunks.push_back({0, kChunkBytes, {}, 0});
  return piece;
}

}  // namespace

Producers::Producers(const std::string& policy, Held held) {
  std::vector<std::unique_ptr<tier::Tier>> tiers;
  tiers.push_back(
      tier::make_tier("memory", {0, directory_ / "memory", kChunkBytes, kMemorySlots * kMemorySlotBytes}).value());
  tiers.push_back(tier::make_tier("file", {1, directory_ / "file", kChunkBytes, kSsdSlots * kChunkBytes}).value());
  ledger_ = std::make_unique<engine::Ledger>(catalog::Catalog::open(directory_.path()).value(), std::move(tiers),
                                             reports_, placing(policy));
  {
    const auto ledger = ledger_->lock();
    ready_ = ledger->recover().has_value();
  }
  ready_ = ready_ && begin(held);
}

// Stores all of it on the slower tier, where it does not disturb.
bool Producers::store_earlier(std::uint64_t version) {
  const segment::VersionId id{"app", version, {version, 1}};
  const auto ledger = ledger_->lock();
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    ipc::Stage stage{id, kRanks, piece_of(rank, 4)};
    for (auto& chunk : stage.piece.chunks) {
      const auto granted = ledger->grants.grant(rank + 1, {id, kChunkBytes, 0, {0}, "not wanted"});
      chunk.place = granted.address.tier;
      chunk.offset = granted.address.slot;
    }
    if (!ledger->held.stage(rank + 1, stage)) return false;
  }
  return ledger->held.commit({id, {all_ranks()}}) && ledger->flushes.segment_stored(id, 0);
}

// While flush rates are unknown, policies fill one tier after the other.
bool Producers::begin(Held held) {
  for (std::uint64_t version = 1; version <= held.earlier; ++version)
    if (!store_earlier(version)) return false;
  id_ = {"app", held.earlier + 1, {held.earlier + 1, 1}};
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    const auto ledger = ledger_->lock();
    (void)ledger->grants.reserve(rank + 1, std::vector<std::uint64_t>(4, kChunkBytes));
    ledger->grants.begin_capture(rank + 1, {id_, kRanks, piece_of(rank, kChunksPerRank), {all_ranks()}});
  }
  for (std::uint32_t i = 0; i < kMemorySlots + held.on_ssd; ++i) {
    const auto granted = ask(i % kRanks, 1);
    if (granted.kind != GrantOutcome::Kind::granted || !write(i % kRanks, granted.address)) return false;
  }
  {
    const auto ledger = ledger_->lock();
    if (in_memory_.size() != kMemorySlots || ledger->captures.next_write_through() != id_) return false;
  }
  if (!flush_one()) return false;
  const auto again = ask(0);
  return again.kind == GrantOutcome::Kind::granted && again.address.tier == 0 && write(0, again.address);
}

ipc::Written Producers::writes(std::uint32_t rank, const tier::SlotAddress& slot) {
  const engine::ChunkName name{rank, next_chunk_[rank]++};
  if (slot.tier == 0) in_memory_.push_back({name, slot.slot});
  return {id_, rank, name.chunk, slot.tier, slot.slot, kChunkBytes, {}};
}

bool Producers::write(std::uint32_t rank, const tier::SlotAddress& slot) {
  const auto ledger = ledger_->lock();
  const auto told = ledger->writes.written(rank + 1, writes(rank, slot));
  return told && told->has_value();
}

bool Producers::flush_one() {
  if (in_memory_.empty()) return false;
  const InMemory oldest = in_memory_.front();
  in_memory_.pop_front();
  const engine::FlushedChunk chunk{oldest.name, {0, oldest.slot}, 4096, kChunkBytes};
  const auto ledger = ledger_->lock();
  const auto started = ledger->flushes.chunk_begins(id_, chunk);
  if (started) ledger->flushes.chunk_ended(id_, chunk, *started, true, true);
  return started.has_value();
}

void situations(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"on_ssd", "earlier"})->Args({0, 0})->Args({256, 0})->Args({1024, 0})->Args({1024, 2});
}

Held situation(const benchmark::State& state) {
  return {static_cast<std::uint32_t>(state.range(0)), static_cast<std::uint32_t>(state.range(1))};
}

}  // namespace perdure::decision_cost
