#include "inspect/prune_plan.hpp"

#include <algorithm>
#include <utility>

#include "inspect/words.hpp"

namespace perdure::inspect {
namespace {

PruneAction removal_of(store::Store& store, const reader::VersionFacts& facts, std::string why) {
  const segment::VersionId id = facts.listing.id;
  return {id.text() + ", attempt " + id.attempt.hex(), std::move(why), facts.bytes,
          [&store, id] { return store.remove(id); }};
}

std::vector<std::size_t> places_to_retire(const std::vector<reader::VersionFacts>& facts,
                                          const plan::RetentionPolicy& policy) {
  std::vector<plan::StoredVersion> stored;
  for (const auto& one : facts)
    stored.push_back({one.listing.id.version, one.complete(), one.listing.id.attempt.created_ns});
  return plan::retire(policy, stored);
}

/// The attempts before the newest complete one at a version serve nobody.
bool superseded(const reader::VersionFacts& one, const std::vector<reader::VersionFacts>& facts) {
  return std::any_of(facts.begin(), facts.end(), [&](const reader::VersionFacts& other) {
    return other.complete() && other.listing.id.version == one.listing.id.version &&
           other.listing.id.attempt > one.listing.id.attempt;
  });
}

std::vector<PruneAction> decide(store::Store& store, const std::vector<reader::VersionFacts>& facts,
                                const plan::RetentionPolicy& policy) {
  std::vector<PruneAction> actions;
  for (const std::size_t place : places_to_retire(facts, policy)) {
    const reader::VersionFacts& one = facts[place];
    std::string why = "beyond retention";
    if (superseded(one, facts))
      why = "a newer attempt at this version is complete";
    else if (!one.complete())
      why = std::string(reader::state_name(one.state)) + ", and a newer one is complete";
    actions.push_back(removal_of(store, one, std::move(why)));
  }
  return actions;
}

}  // namespace

void plan_retention(store::Store& store, std::vector<reader::VersionFacts> facts, const plan::RetentionPolicy& policy,
                    const DeepCheck& check, PrunePlan& plan) {
  for (;;) {
    auto actions = decide(store, facts, policy);
    if (actions.empty()) return;
    // The newest complete one is what would be relied on.
    const auto anchor = std::max_element(facts.begin(), facts.end(), [](const auto& a, const auto& b) {
      return std::pair(a.complete(), a.listing.id.attempt) < std::pair(b.complete(), b.listing.id.attempt);
    });
    if (!anchor->complete()) return;
    if (check(*anchor)) {
      for (PruneAction& action : actions)
        action.act = [&store, kept = anchor->listing.id, act = std::move(action.act)]() -> base::Status {
          PERDURE_CHECK(store.make_lasting(kept));
          return act();
        };
      std::move(actions.begin(), actions.end(), std::back_inserter(plan.actions));
      return;
    }
    anchor->state = reader::VersionFacts::State::damaged;
    plan.refused.push_back(anchor->listing.id.text() +
                           " is damaged and does not count as complete; perdure verify says where");
  }
}

base::Status plan_removal(store::Store& store, const std::string& name, const std::vector<reader::VersionFacts>& facts,
                          const std::set<std::uint64_t>& versions, bool even_the_last, const DeepCheck& check,
                          PrunePlan& plan) {
  std::vector<PruneAction> actions;
  std::set<std::uint64_t> found;
  bool removes_complete = false;
  for (const reader::VersionFacts& one : facts) {
    if (!versions.contains(one.listing.id.version)) continue;
    found.insert(one.listing.id.version);
    actions.push_back(removal_of(store, one, "asked for"));
    removes_complete |= one.complete();
  }
  for (std::uint64_t version : versions)
    if (!found.contains(version)) return base::fail(no_such_checkpoint(store, {name, version}));
  const bool another =
      !removes_complete || even_the_last || std::any_of(facts.rbegin(), facts.rend(), [&](const auto& one) {
        return one.complete() && !versions.contains(one.listing.id.version) && check(one);
      });
  if (another) {
    std::move(actions.begin(), actions.end(), std::back_inserter(plan.actions));
  } else {
    const bool one = versions.size() == 1;
    std::vector<std::string> numbers;
    for (const std::uint64_t version : versions) numbers.push_back(std::to_string(version));
    plan.refused.push_back(name + (one ? " version " : " versions ") + enumerated(numbers) +
                           (one ? " is kept" : " are kept, all of them") + ": no other verified version of " + name +
                           " would be left; --even-the-last removes " + (one ? "it" : "them") + " all the same");
  }
  return {};
}

}  // namespace perdure::inspect
