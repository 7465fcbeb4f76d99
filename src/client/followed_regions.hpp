#pragma once
// Owners of protected regions, such as containers that move and grow, are asked where the regions are. That happens
// before a call that captures or fills them. capture/following.hpp decides about their answers. (docs/adr/0049)
#include <map>
#include <optional>
#include <utility>

#include "capture/following.hpp"

namespace perdure::client {

/// The followed regions of one session. Regions without an owner are not here, and cost nothing.
class FollowedRegions {
 public:
  /// Asks the owner of a protected region at once, and from then on in each update(). A second call replaces the owner.
  /// PERDURE_INVALID_ARGUMENT: the owner cannot say where the region is, or the region is not within its elements.
  base::Status follow(const capture::Region& region, perdure_locate locate, void* owner);
  /// Forgets a region that is gone, or that has been protected again.
  void forget(std::int32_t id) { followed_.erase(id); }
  /// Makes followed regions leave the memory of `region` if they are no longer there.
  void make_way(const capture::Region& region, capture::RegionTable& table);
  /// Makes the next call that asks the owners fail with `why`: the caller has looked for a region by itself, and found
  /// it nowhere.
  void refuse_next(base::Error why) { refused_ = std::move(why); }
  /// Comes first in such a call: the refusal is for that call, whatever else it fails with.
  base::Status take_refusal() {
    if (auto refused = std::exchange(refused_, std::nullopt)) return base::fail(std::move(*refused));
    return {};
  }
  /// Moves the regions of `table` to where their owners say; true if one was elsewhere. `check`: the condition, a
  /// Status, for each region that moves. PERDURE_INVALID_ARGUMENT about a region that cannot be followed; then nothing
  /// has changed.
  template <class Check>
  base::Result<bool> update(capture::RegionTable& table, Check check) {
    PERDURE_TRY(const auto moved, find_moved(table));
    for (const capture::Region& region : moved) PERDURE_CHECK(check(region));
    PERDURE_CHECK(move(moved, table));
    return !moved.empty();
  }

 private:
  struct Followed {
    perdure_locate locate = nullptr;
    void* owner = nullptr;
    capture::OwnedElements had = {};  // the owner's elements when the region was where the table has it
    capture::OwnedElements has = {};  // the owner's elements now
    bool left = false;                // the region has left its memory
  };
  static base::Result<capture::OwnedElements> ask(const capture::Region& region, const Followed& followed);
  base::Result<std::vector<capture::Region>> find_moved(const capture::RegionTable& table);
  base::Status move(const std::vector<capture::Region>& moved, capture::RegionTable& table);

  std::map<std::int32_t, Followed> followed_;
  std::optional<base::Error> refused_;
};

}  // namespace perdure::client
