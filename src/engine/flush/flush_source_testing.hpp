#pragma once
// For tests only: scripts the surroundings of a flush. By default nothing is limited or slow, and every chunk is in its
// slot.
#include <functional>

#include "engine/flush/flush_source.hpp"

namespace perdure::engine {

class ScriptedSource : public FlushSource {
 public:
  ChunkFlight begin(bool, const std::atomic<bool>&, const Choose& choose) override {
    ChunkFlight flight;
    flight.chunk = choose(slots_wanted);
    if (!flight.chunk || flight.chunk->slot.first == catalog::kInTemporarySegment) return flight;
    flight.gone = on_begin && !on_begin(*flight.chunk);
    flight.slot = address(*flight.chunk);
    return flight;
  }
  void reads(ChunkFlight& flight, bool reading, const std::atomic<bool>&) override {
    if (on_reads) on_reads(*flight.chunk, reading);
  }
  void end(const ChunkFlight& flight, bool stored) override {
    if (flight.chunk && on_end) on_end(*flight.chunk, stored);
  }
  bool cancelled() const override { return cut; }
  void pace(std::uint64_t, std::uint64_t bytes) override { paced += bytes; }
  CaptureNews news() override { return on_news(); }
  void wake() override { ++woken; }
  Turn turn() override { return the_turn; }
  base::Status stored(std::uint32_t segment) override { return on_stored(segment); }
  bool over() override { return kept; }

  std::function<tier::SlotAddress(const FlushedChunk&)> address;
  std::function<bool(const FlushedChunk&)> on_begin;  ///< false: the chunk is gone
  std::function<void(const FlushedChunk&, bool reading)> on_reads;
  std::function<void(const FlushedChunk&, bool stored)> on_end;
  std::function<CaptureNews()> on_news;
  std::function<base::Status(std::uint32_t)> on_stored;
  Turn the_turn = Turn::mine;
  std::atomic<std::uint64_t> paced = 0;
  std::atomic<int> woken = 0;
  std::atomic<bool> cut = false;
  bool slots_wanted = false, kept = false;
};

}  // namespace perdure::engine
