// Tests every state of a version with every event, against the tables below: its life, its flush phase, and its
// flusher.
#include "engine/ledger/version.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "engine/ledger/versions.hpp"

namespace perdure::engine {

std::ostream& operator<<(std::ostream& out, const VersionState& state) {
  return out << "life " << static_cast<int>(state.life) << ", flush " << static_cast<int>(state.flush) << ", by "
             << static_cast<int>(state.by);
}

namespace {

using Event = VersionEvent;

constexpr std::array kLives = {Life::none, Life::announced, Life::staged, Life::delayed, Life::committed, Life::stored};
constexpr std::array kPhases = {FlushPhase::queued, FlushPhase::running, FlushPhase::waiting, FlushPhase::given_up};
constexpr std::array kFlushers = {FlushedBy::queue, FlushedBy::chosen, FlushedBy::own_flush};
constexpr std::array kEvents = {Event::announce,       Event::stage,         Event::commit,
                                Event::record,         Event::add_segments,  Event::store,
                                Event::choose,         Event::capture_fails, Event::own_flush_begins,
                                Event::own_flush_ends, Event::attempt,       Event::attempt_succeeds,
                                Event::attempt_fails,  Event::give_up,       Event::interrupt,
                                Event::try_again,      Event::drop};

// Each event has one row, in the order of kEvents: the outcome for each state, in the order above. "-" is refused, "="
// stays as it is.
constexpr const char* kLifeTable = R"(
announce          announced  =          =          =          =          =
stage             staged     staged     =          =          =          =
commit            -          -          delayed    -          -          -
record            -          -          -          committed  -          -
add_segments      -          -          -          -          =          committed
store             -          -          -          -          stored     =
choose            -          =          =          =          =          =
capture_fails     -          =          =          =          =          =
own_flush_begins     =          =          =          =          =          =
own_flush_ends       =          =          =          =          =          =
attempt           -          -          =          =          =          =
attempt_succeeds  -          -          =          =          =          =
attempt_fails     -          -          =          =          =          =
give_up           -          -          =          =          =          =
interrupt         -          -          =          =          =          =
try_again         -          -          =          =          =          =
drop              =          none       none       none       none       none
)";

// "by": running with FlushedBy::own_flush, otherwise queued. "idle": queued if it is committed and not stored,
// otherwise the same.
constexpr const char* kPhaseTable = R"(
announce          =          =          =          =
stage             =          =          =          =
commit            by         by         by         by
record            =          =          =          =
add_segments      queued     running    queued     queued
store             =          =          =          =
choose            =          =          =          =
capture_fails     =          =          =          =
own_flush_begins     =          =          =          =
own_flush_ends       =          =          =          =
attempt           running    running    running    running
attempt_succeeds  queued     queued     queued     queued
attempt_fails     waiting    waiting    waiting    waiting
give_up           given_up   given_up   given_up   given_up
interrupt         idle       idle       idle       idle
try_again         =          =          =          queued
drop              queued     queued     queued     queued
)";

constexpr const char* kFlusherTable = R"(
announce          =          =          =
stage             =          =          =
commit            =          queue      =
record            =          =          =
add_segments      =          =          =
store             =          =          =
choose            chosen     =          =
capture_fails     =          queue      =
own_flush_begins     -          own_flush -
own_flush_ends       -          -          queue
attempt           =          =          =
attempt_succeeds  =          =          =
attempt_fails     =          =          =
give_up           =          =          =
interrupt         =          =          =
try_again         =          =          =
drop              =          queue      =
)";

using Table = std::vector<std::vector<std::string>>;

Table parse(const char* text) {
  Table table;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<std::string> row;
    for (std::string word; words >> word;) row.push_back(word);
    if (!row.empty()) table.push_back({row.begin() + 1, row.end()});
  }
  return table;
}

template <class State, std::size_t n>
State named(const std::string& name, State same, const std::array<State, n>& states,
            const std::array<const char*, n>& names) {
  for (std::size_t i = 0; i < n; ++i)
    if (name == names[i]) return states[i];
  EXPECT_EQ(name, "=");
  return same;
}

struct Tables {
  Table life = parse(kLifeTable), phase = parse(kPhaseTable), by = parse(kFlusherTable);

  std::optional<VersionState> expected(const VersionState& state, std::size_t event) const {
    const auto& life_cell = life[event].at(static_cast<std::size_t>(state.life));
    const auto& by_cell = by[event].at(static_cast<std::size_t>(state.by));
    if (life_cell == "-" || by_cell == "-") return std::nullopt;
    VersionState after;
    after.life =
        named(life_cell, state.life, kLives, {"none", "announced", "staged", "delayed", "committed", "stored"});
    after.by = named(by_cell, state.by, kFlushers, {"queue", "chosen", "own_flush"});
    std::string cell = phase[event].at(static_cast<std::size_t>(state.flush));
    if (cell == "by") cell = state.by == FlushedBy::own_flush ? "running" : "queued";
    if (cell == "idle") cell = state.life == Life::committed ? "queued" : "=";
    after.flush = named(cell, state.flush, kPhases, {"queued", "running", "waiting", "given_up"});
    return after;
  }
};

TEST(Version, EveryStateWithEveryEventIsWhatTheTablesSay) {
  const Tables tables;
  ASSERT_EQ(tables.life.size(), kEvents.size());
  ASSERT_EQ(tables.phase.size(), kEvents.size());
  ASSERT_EQ(tables.by.size(), kEvents.size());
  for (const Life life : kLives)
    for (const FlushPhase flush : kPhases)
      for (const FlushedBy by : kFlushers)
        for (std::size_t event = 0; event < kEvents.size(); ++event) {
          const VersionState before{life, flush, by};
          const auto after = next(before, kEvents[event]), expected = tables.expected(before, event);
          EXPECT_EQ(after.has_value(), expected.has_value()) << before << "; event " << event;
          if (after && expected) {
            EXPECT_EQ(*after, *expected) << before << "; event " << event;
          }
        }
}

std::vector<VersionState> reachable() {
  std::vector<VersionState> found = {VersionState()};
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const Event event : kEvents)
      if (const auto after = next(found[i], event);
          after && std::find(found.begin(), found.end(), *after) == found.end())
        found.push_back(*after);
  return found;
}

TEST(Version, WhatIsNotStagedStandsInNoQueueAndWhatIsDroppedIsChosenForNothing) {
  for (const VersionState& state : reachable()) {
    EXPECT_TRUE(state.life >= Life::staged || state.flush == FlushPhase::queued) << state;
    EXPECT_FALSE(state.life == Life::none && state.by == FlushedBy::chosen) << state;
  }
}

TEST(Version, WhateverHappensItCanStillReachTheStoreAndCanBeDropped) {
  for (const VersionState& first : reachable()) {
    VersionState state = first;
    for (const Event event : {Event::stage, Event::commit, Event::record, Event::store})
      if (const auto after = next(state, event)) state = *after;
    EXPECT_EQ(state.life, Life::stored) << first;
    const auto dropped = next(first, Event::drop);
    ASSERT_TRUE(dropped) << first;
    EXPECT_EQ(dropped->life, Life::none);
  }
}

TEST(Version, ACommitIsNeverUndoneButByDroppingIt) {
  for (const VersionState& state : reachable())
    for (const Event event : kEvents)
      if (const auto after = next(state, event); after && event != Event::drop && state.life >= Life::delayed) {
        EXPECT_GE(after->life, std::min(state.life, Life::committed)) << state;
      }
}

class VersionsTest : public testing::Test {
 protected:
  static segment::VersionId id(std::uint64_t version) { return {"app", version, {version, 1}}; }
  std::size_t count() const { return static_cast<std::size_t>(std::distance(versions.begin(), versions.end())); }
  Versions versions;
};

TEST_F(VersionsTest, WhatCannotHappenLeavesNoRecord) {
  EXPECT_FALSE(versions.happens(id(1), Event::commit));
  EXPECT_EQ(versions.find(id(1)), nullptr);
  EXPECT_TRUE(versions.happens(id(1), Event::announce));
  EXPECT_EQ(versions.find(id(1))->life, Life::announced);
}

TEST_F(VersionsTest, NothingIsLeftOfADroppedOne) {
  versions.happens(id(1), Event::stage);
  Version& version = versions.at(id(1));
  version.pinned_by.insert(7);
  version.replicate_first = true;
  version.capture.emplace();
  versions.drop(id(1));
  EXPECT_EQ(count(), 0u);
  versions.drop(id(1));
  EXPECT_EQ(count(), 0u) << "and again it is none";
}

TEST_F(VersionsTest, SlotsThatRanksStillWriteAndAFlushThatRunsOutliveIt) {
  versions.happens(id(1), Event::announce);
  versions.happens(id(1), Event::choose);
  versions.happens(id(1), Event::own_flush_begins);
  versions.at(id(1)).granted = {0, 1};
  versions.at(id(1)).pinned_by.insert(7);
  versions.drop(id(1));
  ASSERT_NE(versions.find(id(1)), nullptr);
  EXPECT_EQ(versions.find(id(1))->life, Life::none);
  EXPECT_TRUE(versions.find(id(1))->pinned_by.empty());
  versions.happens(id(1), Event::own_flush_ends);
  versions.tidy(id(1));
  ASSERT_NE(versions.find(id(1)), nullptr) << "a rank writes";
  versions.at(id(1)).granted = {0, 0};
  versions.tidy(id(1));
  EXPECT_EQ(count(), 0u);
}

TEST_F(VersionsTest, TheLastThatWereLostAreRemembered) {
  for (std::uint64_t v = 1; v <= Versions::kLostRemembered + 1; ++v) versions.note_lost(id(v));
  EXPECT_FALSE(versions.lost(id(1)));
  EXPECT_TRUE(versions.lost(id(2)));
  EXPECT_TRUE(versions.lost(id(Versions::kLostRemembered + 1)));
  EXPECT_EQ(count(), 0u);
}

}  // namespace
}  // namespace perdure::engine
