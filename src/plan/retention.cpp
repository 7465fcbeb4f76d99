#include "plan/retention.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace perdure::plan {
namespace {

/// The state of a group so far, from the newest attempt on.
struct GroupSeen {
  std::set<std::uint64_t> complete;  ///< versions
  bool landmark = false;             ///< a complete one is a multiple of keep_every
};

bool newer(const StoredVersion& a, const StoredVersion& b) {
  return std::pair(a.begun_ns, a.version) > std::pair(b.begun_ns, b.version);
}

}  // namespace

Branch current_branch(const std::vector<StoredVersion>& stored) {
  const StoredVersion* newest = nullptr;
  for (const StoredVersion& one : stored)
    if ((one.complete || one.damaged) && (newest == nullptr || newer(one, *newest))) newest = &one;
  return newest == nullptr ? kFirstBranch : newest->branch;
}

std::vector<std::size_t> retire(const RetentionPolicy& policy, const std::vector<StoredVersion>& stored,
                                const std::vector<Fork>& forks) {
  std::vector<std::size_t> newest_first(stored.size());
  std::iota(newest_first.begin(), newest_first.end(), std::size_t{0});
  std::stable_sort(newest_first.begin(), newest_first.end(),
                   [&stored](std::size_t a, std::size_t b) { return newer(stored[a], stored[b]); });

  const std::uint64_t keep_last = std::max<std::uint64_t>(policy.keep_last, 1);
  const Branch current = current_branch(stored);
  const Line line = line_of(forks, current);
  GroupSeen on_it;
  std::map<Branch, GroupSeen> left;
  std::vector<std::size_t> given_up;
  for (const std::size_t place : newest_first) {
    const StoredVersion& one = stored[place];
    const bool goes_on = on_line(line, one.branch, one.begun_ns);
    if (!goes_on && !policy.other_runs && !related(forks, one.branch, current)) continue;
    GroupSeen& group = goes_on ? on_it : left[one.branch];
    const bool landmark = policy.keeps_always(one.version);
    const std::size_t newer_ones = group.complete.size() + (goes_on || one.complete ? 0 : on_it.complete.size());
    const bool among_newest = newer_ones < keep_last;
    bool stays = !group.complete.contains(one.version);
    if (one.complete) {
      stays = stays && (among_newest || landmark);
      group.complete.insert(one.version);
      group.landmark = group.landmark || landmark;
    } else if (policy.may_arrive) {
      stays = stays && (among_newest || (landmark && !group.landmark && !on_it.landmark));
    } else {
      stays = newer_ones == 0;
    }
    if (!stays) given_up.push_back(place);
  }
  std::sort(given_up.begin(), given_up.end());
  return given_up;
}

}  // namespace perdure::plan
