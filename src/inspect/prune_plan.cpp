#include "inspect/prune_plan.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "inspect/checkpoints.hpp"
#include "inspect/words.hpp"

namespace perdure::inspect {
namespace {

PruneAction removal_of(store::Store& store, const reader::VersionFacts& facts, std::string why) {
  const segment::VersionId id = facts.listing.id;
  return {id.text() + ", attempt " + id.attempt.hex(), std::move(why), facts.bytes,
          [&store, id] { return store.remove(id); }};
}

plan::Branch branch_of(const reader::VersionFacts& facts) { return plan::branch_of(facts.listing.id.attempt.nonce); }

// The current line is that of readers, who also count quarantined versions: as if its branch had a newest version that
// is damaged.
std::vector<std::size_t> places_to_retire(const NameFacts& facts, const plan::RetentionPolicy& policy) {
  std::vector<plan::StoredVersion> stored;
  for (const auto& one : facts.versions)
    stored.push_back({one.listing.id.version, one.complete(), one.listing.id.attempt.created_ns, branch_of(one),
                      one.state == reader::VersionFacts::State::damaged});
  if (!facts.branches.line.empty())
    stored.push_back({0, false, std::numeric_limits<std::uint64_t>::max(), facts.branches.current, true});
  auto places = plan::retire(policy, stored, facts.branches.forks);
  std::erase_if(places, [&](std::size_t place) { return place >= facts.versions.size(); });
  return places;
}

/// Attempts before the newest complete one at a version of a branch are superseded.
bool superseded(const reader::VersionFacts& one, const std::vector<reader::VersionFacts>& facts) {
  return std::any_of(facts.begin(), facts.end(), [&](const reader::VersionFacts& other) {
    return other.complete() && other.listing.id.version == one.listing.id.version &&
           branch_of(other) == branch_of(one) && other.listing.id.attempt > one.listing.id.attempt;
  });
}

/// A group is judged by itself: the current line, or the versions that a left branch has beside it.
using Group = std::optional<plan::Branch>;
Group group_of(const NameFacts& facts, const reader::VersionFacts& one) {
  return facts.branches.has(one.listing.id) ? std::nullopt : std::optional(branch_of(one));
}

/// Gives the newest complete version: the one to rely on.
reader::VersionFacts* anchor_of(NameFacts& facts, const Group& group) {
  reader::VersionFacts* anchor = nullptr;
  for (reader::VersionFacts& one : facts.versions)
    if (one.complete() && group_of(facts, one) == group &&
        (anchor == nullptr || anchor->listing.id.attempt < one.listing.id.attempt))
      anchor = &one;
  return anchor;
}

/// Gives the branches beside the current line that have a version newer than all complete ones.
std::set<plan::Branch> arriving_branches(const NameFacts& facts) {
  segment::Attempt newest;
  for (const reader::VersionFacts& one : facts.versions)
    if (one.complete()) newest = std::max(newest, one.listing.id.attempt);
  std::set<plan::Branch> branches;
  for (const reader::VersionFacts& one : facts.versions)
    if (!facts.branches.has(one.listing.id) && one.listing.id.attempt > newest) branches.insert(branch_of(one));
  return branches;
}

std::string why_it_goes(const NameFacts& facts, const reader::VersionFacts& one) {
  if (superseded(one, facts.versions)) return "a newer attempt at this version is complete";
  if (!one.complete()) return std::string(reader::state_name(one.state)) + ", and a newer one is complete";
  if (!facts.branches.has(one.listing.id)) return "beyond retention, of branch " + plan::branch_text(branch_of(one));
  return "beyond retention";
}

}  // namespace

base::Result<NameFacts> name_facts(store::Store& store, const std::string& name) {
  NameFacts facts;
  PERDURE_TRY(facts.versions, reader::inventory(store, name));
  if (const auto error = reader::renamed(facts.versions)) return base::fail(*error);
  std::vector<store::VersionListing> listings;
  for (const auto& one : facts.versions) listings.push_back(one.listing);
  PERDURE_TRY(facts.branches, reader::branches_of(store, name, listings));
  return facts;
}

void plan_retention(store::Store& store, NameFacts facts, const plan::RetentionPolicy& policy, const DeepCheck& check,
                    PrunePlan& plan) {
  for (;;) {
    std::map<Group, std::vector<std::size_t>> groups;
    for (const std::size_t place : places_to_retire(facts, policy))
      groups[group_of(facts, facts.versions[place])].push_back(place);
    bool again = false;
    std::vector<PruneAction> actions;
    for (const auto& [group, places] : groups) {
      reader::VersionFacts* anchor = anchor_of(facts, group);
      if (anchor == nullptr) anchor = anchor_of(facts, std::nullopt);  // incomplete ones, behind the current line
      if (anchor == nullptr) continue;
      if (!check(*anchor)) {
        anchor->state = reader::VersionFacts::State::damaged;
        plan.refused.push_back(anchor->listing.id.text() +
                               " is damaged and does not count as complete; perdure verify says where");
        again = true;
        break;
      }
      for (const std::size_t place : places) {
        PruneAction action = removal_of(store, facts.versions[place], why_it_goes(facts, facts.versions[place]));
        action.act = [&store, kept = anchor->listing.id, act = std::move(action.act)]() -> base::Status {
          PERDURE_CHECK(store.make_lasting(kept));
          return act();
        };
        actions.push_back(std::move(action));
      }
    }
    if (again) continue;
    std::move(actions.begin(), actions.end(), std::back_inserter(plan.actions));
    return;
  }
}

base::Status plan_removal(store::Store& store, const VersionWish& wish, const NameFacts& facts, bool even_the_last,
                          const DeepCheck& check, PrunePlan& plan) {
  std::vector<PruneAction> actions;
  std::set<std::uint64_t> found;
  bool removes_complete = false;
  const auto goes = [&](const reader::VersionFacts& one) {
    return wish.versions.contains(one.listing.id.version) && facts.branches.has(one.listing.id, wish.branch);
  };
  for (const reader::VersionFacts& one : facts.versions) {
    if (!goes(one)) continue;
    found.insert(one.listing.id.version);
    actions.push_back(removal_of(store, one, "asked for"));
    removes_complete |= one.complete();
  }
  for (std::uint64_t version : wish.versions)
    if (!found.contains(version)) return base::fail(no_such_checkpoint(store, {wish.name, version, wish.branch}));
  const bool another = !removes_complete || even_the_last ||
                       std::any_of(facts.versions.rbegin(), facts.versions.rend(),
                                   [&](const auto& one) { return one.complete() && !goes(one) && check(one); });
  if (another) {
    std::move(actions.begin(), actions.end(), std::back_inserter(plan.actions));
  } else {
    const bool one = wish.versions.size() == 1;
    std::vector<std::string> numbers;
    for (const std::uint64_t version : wish.versions) numbers.push_back(std::to_string(version));
    plan.refused.push_back(wish.name + (one ? " version " : " versions ") + enumerated(numbers) +
                           (one ? " is kept" : " are kept, all of them") + ": no other verified version of " +
                           wish.name + " would be left; --even-the-last removes " + (one ? "it" : "them") +
                           " all the same");
  }
  return {};
}

// If the current line turns out to be damaged, a branch that was left may have the only good versions. So may the line
// from which the current one went on, if that is not known.
void plan_left_branches(store::Store& store, const NameFacts& facts, const DeepCheck& check, PrunePlan& plan) {
  std::vector<PruneAction> actions;
  std::string name;
  const std::set<plan::Branch> arriving = arriving_branches(facts);
  for (const reader::VersionFacts& one : facts.versions) {
    if (facts.branches.has(one.listing.id)) continue;
    name = one.listing.id.name;
    if (!arriving.contains(branch_of(one)))
      actions.push_back(removal_of(store, one, "of branch " + plan::branch_text(branch_of(one)) + ", which was left"));
  }
  for (const plan::Branch branch : arriving)
    plan.refused.push_back(name + ": branch " + plan::branch_text(branch) +
                           " is kept: it has something newer than all that is complete, which a job may be bringing");
  if (actions.empty()) return;
  if (facts.branches.damage) {
    plan.refused.push_back(name +
                           ": the branches that were left are kept: the current one may go on from them, which "
                           "cannot be read: " +
                           facts.branches.damage->text());
    return;
  }
  const bool good = std::any_of(facts.versions.rbegin(), facts.versions.rend(), [&](const auto& one) {
    return one.complete() && facts.branches.has(one.listing.id) && check(one);
  });
  if (good)
    std::move(actions.begin(), actions.end(), std::back_inserter(plan.actions));
  else
    plan.refused.push_back(name + ": the branches that were left are kept: the current one has no verified version");
}

}  // namespace perdure::inspect
