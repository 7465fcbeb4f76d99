#pragma once
// Checks that regions use only what they declare. For writes, it hashes all other elements before and after a region.
// For reads, it guards pages of other arrays during the region; that also detects writes of an unchanged value. It
// checks a region at its first run, and later at random, as long as this takes a tenth of the run time.
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
  /// Call it before a region that is run.
  void begin(track::LoopId id, const std::vector<StoredSet>& sets, std::span<const track::Access> accesses);
  /// Call it after the region. Returns an undeclared use: "it wrote [3:4, 0:8] of data 'now'", "it used [3, 0] of data
  /// 'now'".
  std::optional<std::string> end(const std::vector<StoredSet>& sets);
  std::uint64_t looked_at() const { return looked_at_; }  ///< number of regions

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
  std::vector<Seen> seen_;  // of the running region
  GuardedPages pages_;
  std::set<track::LoopId> known_;
  std::vector<std::byte> packed_;
  std::minstd_rand draw_;
  Clock::time_point began_ = Clock::now();
  Clock::duration took_{};
  std::uint64_t looked_at_ = 0;
};

}  // namespace perdure::automatic
