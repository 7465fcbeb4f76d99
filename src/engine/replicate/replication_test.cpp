// Tests the redundancy of a version in groups of two and of three positions. Tries every order of events up to some
// length, with lost, repeated and late messages and other failures in between.
#include "engine/replicate/replication.hpp"

#include <deque>
#include <functional>
#include <map>
#include <random>
#include <unordered_set>

#include "engine/replicate/replication_testing.hpp"
#include "support/sanitized.hpp"
#include "support/seeds.hpp"

namespace perdure::engine {
namespace {

/// Walks the states of a group, breadth first.
class GroupSearch {
 public:
  /// Tries every sequence of up to `depth` events from here, as long as there are new states. False if a promise is
  /// broken or a position waits for ever; message() then has the sequence.
  bool run(const SimulatedGroup& start, std::size_t depth) {
    states_.clear();
    states_.push_back({start, 0, {}, 0});
    known_.insert(start.key());
    for (std::size_t at = 0; at < states_.size(); ++at) {
      if (!ends(at)) return false;
      if (states_[at].depth >= depth) continue;
      for (const auto& choice : states_[at].group.choices()) {
        SimulatedGroup next = states_[at].group;
        next.happen(choice);
        if (!next.broken().empty()) return fail(at, choice, next.broken());
        if (known_.insert(next.key()).second) states_.push_back({std::move(next), at, choice, states_[at].depth + 1});
      }
      if (at > 0) states_[at].group = SimulatedGroup("buddy", 2, 0, {});  // frees its memory
    }
    return true;
  }
  /// Does the same from every state of the history without failures.
  bool run_along(SimulatedGroup group, std::size_t depth) {
    for (bool more = true; more;) {
      known_.clear();
      if (!run(group, depth)) return false;
      const auto next = group.good_choice();
      more = next.has_value();
      if (more) group.happen(*next);
    }
    return true;
  }
  /// True if all positions come to an end from here without further failures.
  bool ends(SimulatedGroup group) {
    states_.clear();
    states_.push_back({std::move(group), 0, {}, 0});
    return ends(std::size_t{0});
  }
  const std::string& message() const { return message_; }
  std::size_t states() const { return known_.size(); }

 private:
  struct State {
    SimulatedGroup group;
    std::size_t from = 0;
    SimulatedGroup::Choice choice;
    std::size_t depth = 0;
  };
  bool fail(std::size_t at, const SimulatedGroup::Choice& last, const std::string& why) {
    std::string way;
    for (std::size_t i = at; i != 0; i = states_[i].from) way = "\n  " + SimulatedGroup::text(states_[i].choice) + way;
    message_ = why + ", after" + way + "\n  " + SimulatedGroup::text(last);
    return false;
  }
  bool ends(std::size_t at) {
    SimulatedGroup group = states_[at].group;
    std::string way;
    std::vector<std::string> passed;
    for (int i = 0; i < 500; ++i) {
      passed.push_back(group.key());
      const auto good = group.good_choice();
      if (ending_.contains(passed.back()) || (!good && group.settled())) {
        for (auto& key : passed) ending_.insert(std::move(key));
        return true;
      }
      if (!good) return fail(at, {}, "somebody waits for ever: " + group.phases() + way);
      way += "\n  then " + SimulatedGroup::text(*good);
      group.happen(*good);
      if (!group.broken().empty()) return fail(at, *good, group.broken() + way);
    }
    return fail(at, {}, "it goes on for ever: " + group.phases() + way);
  }

  std::deque<State> states_;
  std::unordered_set<std::string> known_, ending_;
  std::string message_;
};

Trouble everything() {
  Trouble all;
  all.lost = all.late = all.failed = all.room = all.dropped = all.superseded = all.left = all.again = 1;
  all.captured = all.stored = true;
  return all;
}

struct Histories {
  const char* name;
  const char* scheme;
  Trouble trouble;
  std::size_t depth = 1000;  ///< more than any history has
};

Histories two(const char* name, const std::function<void(Trouble&)>& choose, const char* scheme = "xor") {
  Trouble trouble;
  choose(trouble);
  return {name, scheme, trouble, trouble.captured ? 10U : 1000U};
}

/// All histories of two positions that each have one block: of any length, and of captures up to ten events.
class AllHistories : public testing::TestWithParam<Histories> {};
INSTANTIATE_TEST_SUITE_P(
    TwoPositions, AllHistories,
    testing::Values(two("quiet", [](Trouble&) {}), two("lost_twice", [](Trouble& set) { set.lost = 2; }),
                    two("lost_and_late", [](Trouble& set) { set.lost = set.late = 1; }),
                    two("lost_and_failed", [](Trouble& set) { set.lost = set.failed = 1; }),
                    two("lost_and_dropped", [](Trouble& set) { set.lost = set.dropped = 1; }),
                    two("lost_and_superseded", [](Trouble& set) { set.lost = set.superseded = 1; }),
                    two("late_and_left", [](Trouble& set) { set.late = set.left = 1; }),
                    two("failed_twice", [](Trouble& set) { set.failed = 2; }),
                    two("failed_and_dropped", [](Trouble& set) { set.failed = set.dropped = 1; }),
                    two("captured", [](Trouble& set) { set.captured = true; }),
                    two("captured_and_dropped", [](Trouble& set) { set.captured = true, set.dropped = 1; }),
                    two("captured_and_failed", [](Trouble& set) { set.captured = true, set.failed = 1; }),
                    two("stored_and_room", [](Trouble& set) { set.stored = true, set.room = 1; }),
                    two("stored_and_dropped", [](Trouble& set) { set.stored = true, set.dropped = 1; }),
                    two("stored_and_lost", [](Trouble& set) { set.stored = true, set.lost = 1; }),
                    two(
                        "copies_lost", [](Trouble& set) { set.lost = 1; }, "buddy"),
                    two(
                        "server_and_failed", [](Trouble& set) { set.failed = 1; }, "parity-server"),
                    two(
                        "server_and_dropped", [](Trouble& set) { set.dropped = 1; }, "parity-server"),
                    two(
                        "server_and_lost", [](Trouble& set) { set.lost = 1; }, "parity-server")),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST_P(AllHistories, KeepWhatIsPromisedAndComeToAnEnd) {
  const Histories& h = GetParam();
  GroupSearch search;
  EXPECT_TRUE(search.run({h.scheme, 2, 1, h.trouble}, test_support::unless_sanitized<std::size_t>(h.depth, 8)))
      << search.message();
}

TEST(ReplicationOfThree, EveryOrderKeepsWhatIsPromised) {
  GroupSearch search;
  EXPECT_TRUE(search.run({"xor", 3, 1, {}}, test_support::unless_sanitized<std::size_t>(11, 6))) << search.message();
}

TEST(ReplicationOfThree, WhateverGoesWrongInBetweenItEnds) {
  Trouble trouble = everything();
  trouble.captured = false;
  GroupSearch parities, server;
  const auto depth = test_support::unless_sanitized<std::size_t>(2, 1);
  EXPECT_TRUE(parities.run_along({"xor", 3, 1, trouble}, depth)) << parities.message();
  EXPECT_TRUE(server.run_along({"parity-server", 3, 1, trouble}, 1)) << server.message();
}

/// Chooses every kind of event equally often.
SimulatedGroup::Choice choose(const std::vector<SimulatedGroup::Choice>& choices, std::mt19937_64& random) {
  std::map<SimulatedGroup::Happens, std::vector<SimulatedGroup::Choice>> kinds;
  for (const auto& choice : choices) kinds[choice.what].push_back(choice);
  const auto& kind = std::next(kinds.begin(), static_cast<std::ptrdiff_t>(random() % kinds.size()))->second;
  return kind[random() % kind.size()];
}

using Happens = SimulatedGroup::Happens;
void play(SimulatedGroup group, const std::vector<std::pair<Happens, unsigned>>& history) {
  for (const auto& [what, node] : history) {
    const auto choices = group.choices();
    const auto it = std::find_if(choices.begin(), choices.end(),
                                 [&, w = what, n = node](const auto& c) { return c.what == w && c.node == n; });
    ASSERT_NE(it, choices.end()) << SimulatedGroup::name_of(what) << " at " << node;
    group.happen(*it);
    ASSERT_EQ(group.broken(), "");
  }
  GroupSearch search;
  EXPECT_TRUE(search.ends(group)) << search.message();
}

// Plays histories that random choice hardly finds.
void play_rare_histories() {
  const std::vector<std::pair<Happens, unsigned>> aborted = {{Happens::capture, 0}, {Happens::news, 0},
                                                             {Happens::follow, 0},  {Happens::deliver, 0},
                                                             {Happens::abort, 0},   {Happens::news, 0}};
  auto withdrawn = aborted, left = aborted;
  withdrawn.insert(withdrawn.end(), {{Happens::drop, 1}, {Happens::deliver, 1}, {Happens::finish, 0}});
  left.insert(left.end(), {{Happens::leave, 0}, {Happens::finish, 0}});
  play({"xor", 2, 1, everything()}, withdrawn);
  play({"xor", 2, 1, everything()}, left);
  play({"xor", 2, 1, everything()}, {{Happens::capture, 0},
                                     {Happens::news, 0},
                                     {Happens::follow, 0},
                                     {Happens::deliver, 0},
                                     {Happens::capture, 1},
                                     {Happens::news, 1},
                                     {Happens::finish, 1},
                                     {Happens::deliver, 1},
                                     {Happens::news, 0},
                                     {Happens::finish, 0},
                                     {Happens::deliver, 0},
                                     {Happens::commit, 1},
                                     {Happens::fail, 1}});
}

// Plays long random histories with more than one failure. Every pair of the table must occur, or be impossible.
TEST(ReplicationTable, EveryPairComesUpOrIsSaidToBeImpossible) {
  SimulatedGroup::seen() = {};
  play_rare_histories();
  const auto seeds =
      test_support::chosen_seeds().value_or(test_support::Seeds{1, test_support::unless_sanitized(4000U, 400U)});
  for (unsigned seed = seeds.first; seed <= seeds.last; ++seed) {
    std::mt19937_64 random(seed);
    const char* scheme = seed % 2 == 0 ? "xor" : "parity-server";
    Trouble trouble = everything();
    for (unsigned* part : {&trouble.lost, &trouble.late, &trouble.failed, &trouble.room, &trouble.dropped,
                           &trouble.superseded, &trouble.left, &trouble.again})
      *part = static_cast<unsigned>(random() % 3);
    trouble.captured = random() % 2 == 0;
    SimulatedGroup group(scheme, 2 + seed / 2 % 2, 1, trouble);
    std::string way = "seed " + std::to_string(seed);
    for (unsigned i = 0; i < 60; ++i) {
      const auto choices = group.choices();
      if (choices.empty()) break;
      const auto good = group.good_choice();  // often, since few histories come far otherwise
      const auto choice = good && random() % 2 > 0 ? *good : choose(choices, random);
      way += "\n  " + SimulatedGroup::text(choice);
      group.happen(choice);
      ASSERT_EQ(group.broken(), "") << way;
    }
    GroupSearch search;
    ASSERT_TRUE(search.ends(group)) << way << search.message();
  }
  for (std::size_t kind = 0; kind < kReplicationEventKinds; ++kind)
    for (std::size_t phase = 0; phase < kReplicationPhases; ++phase) {
      const bool never = kReplicationTable[kind][phase] == Reaction::never;
      if (!never && test_support::kSanitized) continue;  // too few histories for all pairs
      EXPECT_NE(SimulatedGroup::seen()[kind][phase], never)
          << name_of_event_kind(kind) << " in phase " << name_of(static_cast<ReplicationPhase>(phase))
          << (never ? std::string(", which cannot be: ") + why_never(kind) : " never came up");
    }
}

}  // namespace
}  // namespace perdure::engine
