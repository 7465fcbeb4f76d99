#pragma once
// For tests only: announces captures, writes them chunk by chunk, and flushes them by hand.
#include "engine/ledger/node_state_testing.hpp"

namespace perdure::engine {

class CaptureFixture : public NodeStateFixture {
 protected:
  static NodeStateOptions early(DuringCapture mode = DuringCapture::automatic) {
    NodeStateOptions options;
    options.during_capture = mode;
    options.chunk_bytes = kChunk;
    return options;
  }
  /// Client n is rank n - 1 of `ranks`, all in one segment.
  void announce(ClientId client, const segment::VersionId& version, std::size_t chunks, std::uint32_t ranks = 1) {
    const auto rank = static_cast<std::uint32_t>(client - 1);
    ipc::Begin begin{version, ranks, {rank, kChunk, {{0, 1, kChunk * chunks}}, {}}, {{0, 1, {}}}};
    for (std::size_t i = 0; i < chunks; ++i) begin.piece.chunks.push_back({0, kChunk, {}, 0});
    for (std::uint32_t r = 0; r < ranks; ++r) begin.segments[0].ranks.push_back(r);
    core->grants.begin_capture(client, begin);
  }
  /// Writes the chunk (zeros, as the slot had) and returns its slot.
  tier::SlotAddress write(ClientId client, const segment::VersionId& version, std::uint32_t chunk) {
    const auto granted = grant(client, version);
    EXPECT_EQ(granted.kind, GrantOutcome::Kind::granted) << granted.error.text();
    tell(client, version, chunk, granted.address);
    return granted.address;
  }
  void tell(ClientId client, const segment::VersionId& version, std::uint32_t chunk, const tier::SlotAddress& slot) {
    const auto told = core->writes.written(
        client, {version, static_cast<std::uint32_t>(client - 1), chunk, slot.tier, slot.slot, kChunk, content_hash()});
    ASSERT_TRUE(told && told->has_value());
  }
  static FlushedChunk chunk_in(const tier::SlotAddress& slot, std::uint32_t chunk, std::uint32_t rank = 0) {
    return {{rank, chunk}, {slot.tier, slot.slot}, 4096 + chunk * kChunk, kChunk};
  }
  /// Acts as a flush that wrote the chunk to the temporary segment.
  void flush(const segment::VersionId& version, const FlushedChunk& chunk) {
    const auto started = core->flushes.chunk_begins(version, chunk);
    ASSERT_TRUE(started);
    core->flushes.chunk_ended(version, chunk, *started, true, true);
  }
  bool stage_slots(ClientId client, const segment::VersionId& version, const std::vector<tier::SlotAddress>& slots,
                   std::uint32_t ranks = 1) {
    auto stage = staged(version, slots, static_cast<std::uint32_t>(client - 1));
    stage.ranks = ranks;
    const auto done = core->held.stage(client, stage);
    return done.has_value();
  }
};

}  // namespace perdure::engine
