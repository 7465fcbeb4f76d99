#include "plan/retention.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace perdure::plan {

std::vector<std::size_t> retire(const RetentionPolicy& policy, const std::vector<StoredVersion>& stored) {
  std::vector<std::size_t> newest_first(stored.size());
  std::iota(newest_first.begin(), newest_first.end(), std::size_t{0});
  std::stable_sort(newest_first.begin(), newest_first.end(), [&stored](std::size_t a, std::size_t b) {
    return std::pair(stored[a].begun_ns, stored[a].version) > std::pair(stored[b].begun_ns, stored[b].version);
  });

  const std::uint64_t keep_last = std::max<std::uint64_t>(policy.keep_last, 1);
  std::set<std::uint64_t> complete;  // versions, among the attempts seen so far
  bool landmark_complete = false;
  std::vector<std::size_t> given_up;
  for (const std::size_t place : newest_first) {
    const StoredVersion& one = stored[place];
    const bool landmark = policy.keep_every > 0 && one.version % policy.keep_every == 0;
    const bool among_newest = complete.size() < keep_last;
    bool stays = !complete.contains(one.version);
    if (one.complete) {
      stays = stays && (among_newest || landmark);
      complete.insert(one.version);
      landmark_complete = landmark_complete || landmark;
    } else if (policy.may_arrive) {
      stays = stays && (among_newest || (landmark && !landmark_complete));
    } else {
      stays = complete.empty();
    }
    if (!stays) given_up.push_back(place);
  }
  std::sort(given_up.begin(), given_up.end());
  return given_up;
}

}  // namespace perdure::plan
