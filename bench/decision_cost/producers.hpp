#pragma once
// Sets up the situation in which decisions are measured. The 256 ranks of one node capture more than their memory tier
// holds, and it is flushed meanwhile. No flush runs: the benchmark says when a chunk was flushed.
#include <benchmark/benchmark.h>

#include <deque>

#include "engine/ledger/ledger.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::decision_cost {

inline constexpr std::uint32_t kRanks = 256;
inline constexpr std::uint64_t kChunkBytes = 64 * 1024, kMemorySlots = 32;

/// How much the engine holds meanwhile.
struct Held {
  std::uint32_t on_ssd = 0;   ///< chunks of the capture on the slower tier
  std::uint32_t earlier = 0;  ///< stored versions of four chunks per rank that were not evicted
};

class Producers {
 public:
  Producers(const std::string& policy, Held held);
  /// Whether the situation could be set up.
  bool ready() const { return ready_; }
  /// A rank has a limited number of chunks; once one has none left, begin with another object.
  bool at_end(std::uint32_t rank) const { return next_chunk_[rank] == kChunksPerRank; }
  engine::Ledger& ledger() { return *ledger_; }
  engine::Reports& reports() { return reports_; }
  std::string path(const std::string& name) const { return directory_ / name; }

  ipc::Grant request() const { return {id_, kChunkBytes, 0, {}, {}}; }
  /// A rank asks for a slot at the head of a queue of length `waiting`.
  engine::GrantOutcome ask(std::uint32_t rank, std::uint64_t waiting = kRanks) {
    const auto ledger = ledger_->lock();
    return ledger->grants.grant(rank + 1, request(), {waiting, rank, false});
  }
  /// Returns the rank's message that its next chunk is in this slot.
  ipc::Written writes(std::uint32_t rank, const tier::SlotAddress& slot);
  bool write(std::uint32_t rank, const tier::SlotAddress& slot);
  /// Marks the chunk that has been in memory for longest as stored, so that its slot can be reused.
  bool flush_one();

 private:
  static constexpr std::uint32_t kChunksPerRank = 64;
  struct InMemory {
    engine::ChunkName name;
    std::uint64_t slot = 0;
  };
  bool store_earlier(std::uint64_t version);
  bool begin(Held held);

  test_support::TemporaryDirectory directory_{test_support::TemporaryDirectory::Place::memory};
  engine::Reports reports_;
  std::unique_ptr<engine::Ledger> ledger_;
  segment::VersionId id_;
  std::vector<std::uint32_t> next_chunk_ = std::vector<std::uint32_t>(kRanks, 0);
  std::deque<InMemory> in_memory_;
  bool ready_ = false;
};

/// Adds the compared situations as arguments of a benchmark, and returns the situation of a run.
void situations(benchmark::internal::Benchmark* benchmark);
Held situation(const benchmark::State& state);

}  // namespace perdure::decision_cost
