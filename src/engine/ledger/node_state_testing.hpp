#pragma once
// For tests only: runs a node over small file tiers, with checkpoints of one rank and one chunk per slot.
#include <gtest/gtest.h>

#include "base/bytes.hpp"
#include "engine/ledger/ledger.hpp"
#include "support/temporary_directory.hpp"
#include "tier/slot_io.hpp"

namespace perdure::engine {

inline constexpr std::uint64_t kChunk = 64 * base::KiB;
inline constexpr std::uint64_t kMillisecond = 1'000'000, kHour = 3'600'000'000'000;  // ns

class NodeStateFixture : public ::testing::Test {
 protected:
  /// Opens tiers with so many slots each, and replays what an earlier engine left in the directory.
  void open(const std::vector<std::uint64_t>& slots, NodeStateOptions placing = {}) {
    close();
    std::vector<std::unique_ptr<tier::Tier>> tiers;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const tier::TierOptions options{static_cast<std::uint32_t>(i), directory / ("tier" + std::to_string(i)), kChunk,
                                      slots[i] * kChunk};
      tiers.push_back(std::move(*tier::make_tier("file", options)));
    }
    make(std::move(tiers), std::move(placing));
    ASSERT_TRUE(core->recover());
  }
  void make(std::vector<std::unique_ptr<tier::Tier>> tiers, NodeStateOptions placing) {
    ledger = std::make_unique<Ledger>(catalog::Catalog::open(directory.path()).value(), std::move(tiers), reports,
                                      std::move(placing));
    const auto held = ledger->lock();
    core = &*held;
  }
  /// Time passes only when `time_s` is changed.
  NodeStateOptions timed(NodeStateOptions options = {}) {
    options.clock = [this] { return time_s; };
    return options;
  }
  void close() {
    core = nullptr;
    ledger.reset();
  }
  static segment::VersionId id(std::uint64_t version, const std::string& name = "app") {
    return {name, version, {version, 1}};
  }
  GrantOutcome grant(ClientId client, const segment::VersionId& version, std::vector<std::uint32_t> avoid = {}) {
    return core->grants.grant(client, {version, kChunk, 0, std::move(avoid), "it burns"});
  }
  static ipc::Stage staged(const segment::VersionId& version, const std::vector<tier::SlotAddress>& slots,
                           std::uint32_t rank = 0) {
    ipc::Stage stage{version, 1, {rank, kChunk, {{0, 1, kChunk * slots.size()}}, {}}};
    for (const auto& slot : slots) stage.piece.chunks.push_back({slot.slot, kChunk, content_hash(), slot.tier});
    return stage;
  }
  /// Every chunk of these tests is zeros, as preallocated slots are.
  static base::Hash128 content_hash() { return base::hash128(std::vector<std::byte>(kChunk)); }
  static ipc::Commit commit_of(const segment::VersionId& version) { return {version, {{0, 1, {0}}}}; }
  /// Grants, stages and commits one chunk; false if it did not get a slot.
  bool checkpoint(std::uint64_t version, ClientId client = 1) {
    const auto granted = grant(client, id(version));
    if (granted.kind != GrantOutcome::Kind::granted) return false;
    EXPECT_TRUE(core->held.stage(client, staged(id(version), {granted.address})));
    EXPECT_TRUE(core->held.commit(commit_of(id(version))));
    return true;
  }
  void store(std::uint64_t version) {
    ASSERT_TRUE(core->flushes.segment_stored(id(version), 0));
    core->flushes.succeeded(id(version), kChunk, 1);
  }
  std::vector<std::string> taken_reports() {
    std::vector<std::string> all;
    while (auto text = reports.take()) all.push_back(*text);
    return all;
  }
  std::uint64_t used(std::size_t tier) {
    const auto usage = core->tiers()[tier]->usage();
    return usage.slots - usage.free_slots;
  }

  test_support::TemporaryDirectory directory;
  double time_s = 1;
  Reports reports;
  std::unique_ptr<Ledger> ledger;
  /// The state inside the ledger. Only for tests without other threads, or with the lock held.
  NodeState* core = nullptr;
};

}  // namespace perdure::engine
