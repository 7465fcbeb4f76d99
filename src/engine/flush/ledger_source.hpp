#pragma once
// Connects a version's flush with the engine: the ledger has its chunks, the gate limits its threads.
#include "engine/flush/flush_activity.hpp"
#include "engine/flush/flush_context.hpp"
#include "engine/flush/flush_source.hpp"
#include "engine/flush/segment_flush.hpp"

namespace perdure::engine {

/// Serves one attempt.
class LedgerSource final : public FlushSource {
 public:
  /// `write_through`: the flush began before the commit, so it waits for its turn to be published. `part` belongs to
  /// this flush. `part` and the context outlive this object.
  LedgerSource(FlushContext& context, segment::VersionId id, bool write_through, FlushActivity::Part& part);
  /// Begins an attempt. nullopt if the version was given up.
  std::optional<FlushJob> job();
  /// True if news() would report something. Called with the ledger held.
  bool has_news(const NodeState& state) const;
  /// True if news() has reported the commit.
  bool committed() const { return committed_; }
  /// Called with the ledger held.
  Turn turn(const NodeState& state) const;

  ChunkFlight begin(bool reading, const std::atomic<bool>& failed, const Choose& choose) override;
  void reads(ChunkFlight& flight, bool reading, const std::atomic<bool>& failed) override;
  void end(const ChunkFlight& flight, bool stored) override;
  bool cancelled() const override { return context_.stopping; }
  void pace(std::uint64_t begun_ns, std::uint64_t bytes) override;
  CaptureNews news() override;
  void wake() override;
  Turn turn() override;
  base::Status stored(std::uint32_t segment) override;
  bool over() override;

 private:
  void choose_chunk(ChunkFlight& flight, const Choose& choose);

  FlushContext& context_;
  const segment::VersionId id_;
  const bool write_through_;
  bool committed_ = false;
  FlushActivity::Part& part_;
  FlushMeter* meter_ = nullptr;  // the ledger's; set by job()
  std::size_t seen_ = 0;         // chunks of the capture that news() has reported
};

}  // namespace perdure::engine
