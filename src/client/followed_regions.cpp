#include "client/followed_regions.hpp"

#include <utility>

namespace perdure::client {

base::Result<capture::OwnedElements> FollowedRegions::ask(const capture::Region& region, const Followed& followed) {
  void* address = nullptr;
  std::size_t count = 0;
  const int refusal = followed.locate(followed.owner, &address, &count);
  if (refusal == 0) return capture::OwnedElements{static_cast<std::byte*>(address), count};
  return base::fail(PERDURE_INVALID_ARGUMENT, region.text(),
                    "its owner cannot say where it is: it says " + std::to_string(refusal),
                    "protect it again where it is now, or unprotect it");
}

base::Status FollowedRegions::follow(const capture::Region& region, perdure_locate locate, void* owner) {
  Followed followed{locate, owner};
  PERDURE_TRY(followed.had, ask(region, followed));
  PERDURE_CHECK(capture::check_owner(region, followed.had));
  followed_[region.id] = followed;
  return {};
}

void FollowedRegions::make_way(const capture::Region& region, capture::RegionTable& table) {
  while (!followed_.empty()) {
    const auto other = table.overlapped_by(region);
    if (!other) return;
    const auto found = followed_.find(*other);
    if (found == followed_.end()) return;
    const auto has = ask(*table.find(*other), found->second);
    if (!has || !capture::has_left(found->second.had, *has)) return;
    found->second.left = true;
    table.leave_memory(*other);
  }
}

base::Result<std::vector<capture::Region>> FollowedRegions::find_moved(const capture::RegionTable& table) {
  std::vector<capture::Region> moved;
  for (auto& [id, followed] : followed_) {
    const capture::Region& region = *table.find(id);
    PERDURE_TRY(followed.has, ask(region, followed));
    PERDURE_TRY(auto there, capture::followed(region, followed.had, followed.has));
    if (!there && followed.left) there = region;  // it has come back
    if (there) moved.push_back(std::move(*there));
  }
  return moved;
}

base::Status FollowedRegions::move(const std::vector<capture::Region>& moved, capture::RegionTable& table) {
  if (!moved.empty()) PERDURE_CHECK(table.move(moved));
  for (auto& [id, followed] : followed_) {
    followed.had = followed.has;
    followed.left = false;
  }
  return {};
}

}  // namespace perdure::client
