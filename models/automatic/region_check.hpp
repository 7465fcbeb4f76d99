#pragma once
// Whether regions use only what they say. What they write: all other elements are hashed before and behind them. What
// they read: pages of other arrays are guarded while they run, which sees what is written, too, with the value it had.
// A region is looked at when it comes first, and later as drawn, as long as that takes a tenth of the run.
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "automatic/guarded_pages.hpp"
#include "automatic/stored_set.hpp"
#include "track/access.hpp"

namespace perdure::automatic {

class RegionCheck {
 public:
  struct Looks {
    bool at_writes = true;
    bool at_reads = true;
  };
  explicit RegionCheck(Looks looks = {true, true}) : looks_(looks) {}
  /// Before a region that is run.
  void begin(track::LoopId id, const std::vector<StoredSet>& sets, std::span<const track::Access> accesses);
  /// Behind it: "it wrote [3:4, 0:8] of data 'now'", "it used [3, 0] of data 'now'", that it did not say.
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
  bool looks_now(track::LoopId id, Clock::time_point now);

  Looks looks_;
  std::vector<Seen> seen_;  // of the region that is run
  GuardedPages pages_;
  std::set<track::LoopId> known_;
  std::vector<std::byte> packed_;
  std::minstd_rand draw_;
  Clock::time_point began_ = Clock::now();
  Clock::duration took_{};
  std::uint64_t looked_at_ = 0;
};

}  // namespace perdure::automatic
