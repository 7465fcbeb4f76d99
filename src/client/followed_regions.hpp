#pragma once
// Owners of protected regions, such as containers that move and grow: asked where the regions are, before a call that
// captures or fills them. What an answer means is decided in capture/following.hpp. (docs/adr/0049)
#include <map>
#include <optional>
#include <utility>

#include "capture/following.hpp"

namespace perdure::client {

/// Of one session. Regions without an owner are not here, and cost nothing.
class FollowedRegions {
 public:
  /// Asks the owner of a protected region at once, and from then on in each update(). Again: another owner.
  /// PERDURE_INVALID_ARGUMENT: it cannot say where the region is, or the region is not within what it has.
  base::Status follow(const capture::Region& region, perdure_locate locate, void* owner);
  /// Of a region that is gone, or that has been protected again.
  void forget(std::int32_t id) { followed_.erase(id); }
  /// Who is in the way of `region`, and is not any more where it was, leaves that memory.
  void make_way(const capture::Region& region, capture::RegionTable& table);
  /// The next call that asks the owners fails with `why`: who knows them otherwise has found one nowhere.
  void refuse_next(base::Error why) { refused_ = std::move(why); }
  /// To be asked first in such a call: what was refused is of that call, whatever else it fails with.
  base::Status take_refusal() {
    if (auto refused = std::exchange(refused_, std::nullopt)) return base::fail(std::move(*refused));
    return {};
  }
  /// The regions of `table` are where their owners say: true where one was not there. `check`: what must hold of each
  /// that moves, a Status. PERDURE_INVALID_ARGUMENT about one that cannot be followed; then nothing has changed.
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
    capture::OwnedElements had = {};  // when the region was where the table has it
    capture::OwnedElements has = {};  // what it says now
    bool left = false;                // the region has left its memory
  };
  static base::Result<capture::OwnedElements> ask(const capture::Region& region, const Followed& followed);
  base::Result<std::vector<capture::Region>> find_moved(const capture::RegionTable& table);
  base::Status move(const std::vector<capture::Region>& moved, capture::RegionTable& table);

  std::map<std::int32_t, Followed> followed_;
  std::optional<base::Error> refused_;
};

}  // namespace perdure::client
