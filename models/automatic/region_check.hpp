#pragma once
// Whether regions write only what they say: all other elements are hashed before and behind them. A region is looked at
// when it comes first, and later ones as long as that takes a tenth of the run. This check does not see
// what a region reads.
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "automatic/stored_set.hpp"
#include "track/access.hpp"

namespace perdure::automatic {

class RegionCheck {
 public:
  /// Before a region that is run.
  void begin(track::LoopId id, const std::vector<StoredSet>& sets, std::span<const track::Access> accesses);
  /// Behind it: "[3:4, 0:8] of data 'now'" that it wrote and did not say.
  std::optional<std::string> end(const std::vector<StoredSet>& sets);
  std::uint64_t looked_at() const { return looked_at_; }  ///< regions

 private:
  using Clock = std::chrono::steady_clock;
  using Hash = std::array<std::uint64_t, 2>;
  struct Seen {
    track::SetId set = 0;
    Box box;
    Hash hash;
  };
  Hash hash_of(const StoredSet& set, const Box& box);

  std::vector<Seen> seen_;  // of the region that is run
  std::set<track::LoopId> known_;
  std::vector<std::byte> packed_;
  Clock::time_point began_ = Clock::now();
  Clock::duration took_{};
  std::uint64_t looked_at_ = 0;
};

}  // namespace perdure::automatic
