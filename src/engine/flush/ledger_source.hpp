#pragma once
// A version's flush as the engine sees it: its chunks are in the ledger, its threads pass the gate.
#include "engine/flush/flush_activity.hpp"
#include "engine/flush/flush_context.hpp"
#include "engine/flush/flush_source.hpp"
#include "engine/flush/segment_flush.hpp"

namespace perdure::engine {

/// For one attempt.
class LedgerSource final : public FlushSource {
 public:
  /// `write_through`: its flush began before its commit, so that it waits for its turn to be published. `part`: of
  /// this flush. Both it and the context outlive this.
  LedgerSource(FlushContext& context, segment::VersionId id, bool write_through, FlushActivity::Part& part);
  /// An attempt begins. Nothing when the version was given up.
  std::optional<FlushJob> job();
  /// news() would say something. With the ledger held.
  bool has_news(const NodeState& state) const;
  /// news() has told of the commit.
  bool committed() const { return committed_; }
  /// With the ledger held.
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
  FlushMeter* meter_ = nullptr;  // the ledger's, from job() on
  std::size_t seen_ = 0;         // of the capture's chunks
};

}  // namespace perdure::engine
