// Tests the campaign's own parts: what it draws, which lies its model notices, and how it shrinks a failure. Runs
// nothing of Perdure.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "array/cover.hpp"
#include "campaign/arrays.hpp"
#include "campaign/driver.hpp"
#include "campaign/generator.hpp"
#include "campaign/rank_state.hpp"
#include "campaign/shrinker.hpp"

namespace {

using namespace perdure::campaign;

constexpr unsigned kDrawn = 300;

Scenario scenario_of(const std::string& text) {
  const auto scenario = scenario_from(text);
  EXPECT_TRUE(scenario) << text;
  return scenario ? *scenario : draw_scenario(1);
}

/// Returns the first violated rule, or an empty text.
std::string judged(const Scenario& scenario, std::unique_ptr<Driver> driver) {
  const auto violations = carry_out(scenario, *driver);
  return violations.empty() ? "" : violations[0].rule;
}
/// The imagined driver does not know who owns a name in an unreadable store.
Scenario imagined(unsigned seed) {
  Scenario drawn = draw_scenario(seed);
  for (Launch& launch : drawn.launches)
    if (launch.store == "unreadable") launch.store = "full";
  return drawn;
}
std::string judged_with(Lie lie, const Scenario& scenario) {
  return judged(scenario, lying_driver(ideal_driver(), lie));
}

TEST(CampaignScenario, IsTheSameAfterItWasWrittenAndRead) {
  for (unsigned seed = 0; seed < kDrawn; ++seed) {
    const Scenario drawn = draw_scenario(seed);
    EXPECT_EQ(scenario_of(text_of(drawn)), drawn) << text_of(drawn);
    EXPECT_EQ(draw_scenario(seed), drawn) << "it follows from the seed alone";
    const Scenario elastic = draw_elastic(seed);
    EXPECT_EQ(scenario_of(text_of(elastic)), elastic) << text_of(elastic);
    EXPECT_EQ(draw_elastic(seed), elastic);
  }
}

TEST(CampaignScenario, ThatCannotBeCarriedOutIsRefused) {
  for (const char* text : {"", "job\n", "launch\n", "job\nlaunch nodes=0,1\n", "job\nlaunch victim=1\n",
                           "job\nlaunch do=close,checkpoint\n", "job\nlaunch do=dance\n", "job\nlaunch colour=red\n",
                           "job\nlaunch replace=perhaps\n", "job\nlaunch job=1\n", "job ranks=17\nlaunch\n",
                           "job\nlaunch ranks=2 nodes=0,1\n", "job arrays=1\nlaunch ranks=2\n",
                           "job arrays=-1\nlaunch\n", "job arrays=1\nlaunch ranks=17 per_node=17\n"})
    EXPECT_FALSE(scenario_from(text)) << text;
  EXPECT_TRUE(scenario_from("job arrays=1\nlaunch ranks=2 nodes=0,1\n"));
}

TEST(CampaignScenario, OfArraysGoesToOtherNumbersOfRanksWithOneFailureAtMost) {
  std::set<std::string> drawn;
  for (unsigned seed = 0; seed < kDrawn; ++seed) {
    const Scenario scenario = draw_elastic(seed);
    ASSERT_TRUE(can_be_carried_out(scenario)) << text_of(scenario);
    EXPECT_NE(scenario.jobs[0].arrays, 0);
    int failing = 0;
    for (std::size_t i = 0; i < scenario.launches.size(); ++i) {
      const Launch& launch = scenario.launches[i];
      const bool fails = !launch.crash.empty() || !launch.killed.empty() || !launch.lost.empty() || launch.hung >= 0 ||
                         launch.flipped_slot >= 0 || launch.flipped_segment;
      failing += fails ? 1 : 0;
      EXPECT_TRUE(!fails || i + 1 < scenario.launches.size()) << "nobody would notice";
      drawn.insert("ranks " + std::to_string(scenario.ranks_of(i)));
      drawn.insert(launch.division == 0 ? "even blocks" : "any division");
      if (launch.moves) drawn.insert("moves");
      if (i == 0) continue;
      const int before = scenario.ranks_of(i - 1), now = scenario.ranks_of(i);
      drawn.insert(now > before ? "more" : now < before ? "fewer" : "as many");
      if (now != before && launch.nodes.size() > 1 && !scenario.launches[i - 1].lost.empty())
        drawn.insert("after a loss");
    }
    EXPECT_LE(failing, 1) << text_of(scenario);
  }
  for (const char* wanted : {"ranks 1", "ranks 8", "ranks 16", "even blocks", "any division", "moves", "more", "fewer",
                             "as many", "after a loss"})
    EXPECT_TRUE(drawn.contains(wanted)) << wanted;
}

TEST(CampaignArrays, AreOfAllKindsAndDividedExactly) {
  std::set<std::string> drawn;
  std::uint64_t least = ~0ULL, most = 0;
  for (int seed = 1; seed <= 60; ++seed) {
    std::uint64_t bytes = 0;
    std::set<int> ids;
    for (const auto& shape : shapes_of(seed)) {
      EXPECT_TRUE(ids.insert(shape.id).second);
      bytes += shape.whole.elements() * shape.element_bytes;
      drawn.insert("type " + shape.type);
      drawn.insert("dimensions " + std::to_string(shape.whole.dimensions));
      for (int division = 0; division < 6; ++division) {
        const int ranks = 1 + (seed + division) % 7;
        std::vector<perdure::array::Owned> owned;
        for (int rank = 0; rank < ranks; ++rank) {
          const auto mine = division_of(shape, division, rank, ranks);
          drawn.insert("call " + std::to_string(static_cast<int>(mine.call)) +
                       (mine.fill_ghosts ? " with ghosts" : ""));
          for (const auto& lies : mine.boxes) owned.push_back({lies.box, static_cast<std::uint32_t>(rank)});
        }
        const auto covered = perdure::array::cover(shape.whole, owned, 1);
        EXPECT_FALSE(covered.hole) << shape.name << " of " << seed << " divided by " << division << " on " << ranks;
      }
    }
    least = std::min(least, bytes);
    most = std::max(most, bytes);
  }
  EXPECT_LT(least, 40'000U);
  EXPECT_GT(most, 1'000'000U);
  EXPECT_LT(most, 4'000'000U);
  for (const char* wanted : {"type c16", "type {position:3f8,id:i4,v4}", "dimensions 0", "dimensions 5", "call 0",
                             "call 0 with ghosts", "call 1 with ghosts", "call 2", "call 3", "call 4"})
    EXPECT_TRUE(drawn.contains(wanted)) << wanted;
}

TEST(CampaignArrays, OfARankKnowEachElementThatIsNotOfTheirStep) {
  for (int seed = 1; seed <= 30; ++seed) {
    const Scenario scenario =
        scenario_of("job arrays=" + std::to_string(seed) + "\nlaunch division=" + std::to_string(seed) + "\n");
    const auto state = arrays_of(scenario, 0, 0);
    state->advance(1001);
    EXPECT_EQ(state->wrong(), "");
    EXPECT_EQ(state->step(), 1001U);
    EXPECT_TRUE(state->touched());
    state->forget();
    EXPECT_FALSE(state->touched());
    EXPECT_NE(state->wrong(), "");
  }
}

// Fills the ranks' memory as a restore does, except one element, so that only a check of all elements notices.
TEST(CampaignArrays, OfARankNoticeOneElementOfAnotherStep) {
  int noticed = 0;
  for (int seed = 1; seed <= 30; ++seed) {
    const Scenario scenario = scenario_of("job arrays=" + std::to_string(seed) + "\nlaunch\n");
    const auto state = arrays_of(scenario, 0, 0);
    state->advance(1001);
    state->came(true);
    noticed += state->wrong().find("1 of ") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(noticed, 30);
}

TEST(CampaignScenario, AllDimensionsAreDrawn) {
  std::set<std::string> drawn;
  const Fields plain = fields_of(Launch{});
  for (unsigned seed = 0; seed < kDrawn; ++seed) {
    const Scenario scenario = draw_scenario(seed);
    ASSERT_TRUE(can_be_carried_out(scenario)) << text_of(scenario);
    if (scenario.jobs.size() == 2)
      drawn.insert(scenario.jobs[0].name == scenario.jobs[1].name ? "name reused" : "two names");
    if (scenario.jobs[0].small) drawn.insert("small");
    for (const Launch& launch : scenario.launches) {
      for (const char* field :
           {"mode", "scheme", "tiers", "store", "killed", "engines", "per_node", "parities", "capture"})
        for (const auto& [name, value] : fields_of(launch))
          if (name == field) drawn.insert(name + " " + value);
      for (const Act act : launch.acts) drawn.insert(name_of(act));
      for (const auto& [name, value] : fields_of(launch))
        if (std::find(plain.begin(), plain.end(), std::pair{name, value}) == plain.end()) drawn.insert(name);
    }
  }
  for (const char* wanted : {"name reused",
                             "two names",
                             "mode daemon",
                             "mode embedded",
                             "scheme single",
                             "scheme partner",
                             "scheme buddy",
                             "scheme xor",
                             "scheme reed-solomon",
                             "tiers memory",
                             "tiers file",
                             "tiers file,memory",
                             "store works",
                             "store full",
                             "store unreadable",
                             "killed rank",
                             "killed ranks",
                             "killed engines",
                             "killed everything",
                             "crash",
                             "missing",
                             "engines left",
                             "engines stopped",
                             "lost",
                             "flipped_slot",
                             "flipped_segment",
                             "store_lost",
                             "forget",
                             "per_node 2",
                             "parities 1",
                             "replace",
                             "rival",
                             "back",
                             "rewrite",
                             "look",
                             "close",
                             "node",
                             "store",
                             "memory_kib",
                             "capture cow",
                             "capture auto",
                             "small"})
    EXPECT_TRUE(drawn.contains(wanted)) << wanted;
}

TEST(CampaignModel, ExpectsNoMoreThanWhatKeepsEveryPromise) {
  for (unsigned seed = 0; seed < kDrawn; ++seed) {
    const Scenario drawn = imagined(seed);
    EXPECT_EQ(judged(drawn, ideal_driver()), "") << seed << "\n" << text_of(drawn);
    EXPECT_EQ(judged(draw_elastic(seed), ideal_driver()), "") << seed << "\n" << text_of(draw_elastic(seed));
  }
}

const char* const kTwoLaunches =
    "job ranks=2\n"
    "launch nodes=0,1 store=full do=restore,checkpoint,checkpoint\n"
    "launch nodes=0,1 store=full do=restore\n";

TEST(CampaignModel, NoticesAnAnswerThatIsOneVersionTooOld) {
  EXPECT_EQ(judged_with(Lie::older, scenario_of(kTwoLaunches)), "the latest is never older than what was promised");
}

TEST(CampaignModel, NoticesAByteThatIsWrong) {
  EXPECT_EQ(judged_with(Lie::flipped, scenario_of(kTwoLaunches)), "what is restored is what was captured");
}

TEST(CampaignModel, NoticesAnElementOfAnotherStepWhereThereAreArrays) {
  EXPECT_EQ(judged_with(Lie::element, scenario_of(kTwoLaunches)), "") << "without arrays there is none";
  EXPECT_EQ(judged_with(Lie::element, scenario_of("job ranks=2 arrays=3\n"
                                                  "launch nodes=0,1 do=restore,checkpoint\n"
                                                  "launch ranks=3 nodes=0,1,2 do=restore\n")),
            "what is restored is what was captured");
}

TEST(CampaignModel, NoticesARefusalThatHasTouchedSomething) {
  const Scenario scenario = scenario_of("job arrays=3\nlaunch do=restore\n");
  const auto judged = [&](int status, bool touched) {
    Answer answer;
    answer.begun = answer.done = true;
    answer.status = status;
    answer.touched = touched;
    Model model(scenario);
    Told told;
    told.answers = {{answer}};
    const auto violations = model.judge(0, told);
    return violations.empty() ? std::string() : violations[0].rule;
  };
  EXPECT_EQ(judged(PERDURE_NOT_FOUND, false), "");
  EXPECT_EQ(judged(PERDURE_NOT_FOUND, true), "what does not fit touches nothing");
}

TEST(CampaignModel, NoticesAWrongNumberThatIsTakenForAFirstStart) {
  const Scenario scenario = scenario_of("job ranks=1\nlaunch do=restore,checkpoint,store,back\n");
  const auto judged = [&](int status) {
    Answer nothing, captured;
    nothing.begun = nothing.done = captured.begun = captured.done = true;
    nothing.status = PERDURE_NOT_FOUND;
    captured.step = step_of(0, 1);
    captured.version = 1;
    Answer stored = captured, back = captured;
    stored.level = PERDURE_LEVEL_STORE;
    back.status = status;
    Model model(scenario);
    Told told;
    told.answers = {{nothing, captured, stored, back}};
    const auto violations = model.judge(0, told);
    return violations.empty() ? std::string() : violations[0].rule;
  };
  EXPECT_EQ(judged(PERDURE_MISMATCH), "");
  EXPECT_EQ(judged(PERDURE_NOT_FOUND), "not-found is a first start only");
}

/// Judges the lie about the latest version, in a launch that resumes from two checkpoints at level node.
std::string judged_on(const std::string& launch, const std::string& first = "scheme=xor store=full") {
  return judged_with(Lie::older, scenario_of("job ranks=3 arrays=1\nlaunch nodes=0,1,2 " + first +
                                             " do=restore,checkpoint,node,checkpoint,node\n" + launch + "\n"));
}

TEST(CampaignModel, ExpectsOnOtherRanksWhatIsThereOnTheSame) {
  const std::string older = "the latest is never older than what was promised";
  EXPECT_EQ(judged_on("launch ranks=5 nodes=2,0,1,3,4 scheme=xor store=full do=restore"), older);
  EXPECT_EQ(judged_on("launch ranks=5 nodes=2,0 per_node=3 store=full do=restore"), older) << "one node of three less";
  EXPECT_EQ(judged_on("launch ranks=5 nodes=2 per_node=5 store=full do=restore"), "") << "two nodes less";
  EXPECT_EQ(judged_on("launch ranks=5 nodes=2,0 per_node=3 tiers=file file_kib=1024 store=full do=restore"), "")
      << "there may be no room for what comes from elsewhere";
  EXPECT_EQ(judged_on("launch ranks=5 nodes=2,0,1,3,4 scheme=xor store=full do=restore", "store=full"), older)
      << "level process, on nodes that reach each other";
  EXPECT_EQ(judged_on("launch ranks=5 nodes=2,0,1,3,4 store=full do=restore", "store=full"), "")
      << "they do not reach each other, nor the store";
}

// If a part of the version is on an absent node, a wait for it may say so.
TEST(CampaignModel, ExpectsThatARestoreOnOtherRanksCompletesNothing) {
  const auto judged = [](const std::string& launch, int status) {
    const Scenario scenario = scenario_of("job ranks=2 arrays=1\nlaunch nodes=0,1 do=checkpoint\n" + launch);
    Answer captured, waited;
    captured.begun = captured.done = waited.begun = waited.done = true;
    captured.step = step_of(0, 0);
    captured.version = 1;
    waited.status = status;
    Model model(scenario);
    Told told;
    told.answers = {{captured}, {captured}};
    EXPECT_TRUE(model.judge(0, told).empty());
    told.answers.assign(static_cast<std::size_t>(scenario.ranks_of(1)), {captured, waited});
    const auto violations = model.judge(1, told);
    return violations.empty() ? std::string() : violations[0].rule;
  };
  const std::string every = "every call succeeds where nothing fails";
  EXPECT_EQ(judged("launch nodes=0,1 do=restore,store\n", PERDURE_TIMEOUT), every);
  EXPECT_EQ(judged("launch ranks=1 do=restore,store\n", PERDURE_TIMEOUT), "");
  EXPECT_EQ(judged("launch ranks=1 do=restore,store\n", PERDURE_CORRUPT), every);
  EXPECT_EQ(judged("launch ranks=3 nodes=1,2,0 do=restore,store\n", PERDURE_TIMEOUT), every) << "its nodes are there";
  EXPECT_EQ(judged("launch nodes=0,1 do=restore,close\n", PERDURE_INCOMPLETE), every);
  EXPECT_EQ(judged("launch ranks=1 do=restore,close\n", PERDURE_INCOMPLETE), "");
  EXPECT_EQ(judged("launch ranks=1 do=restore,close\n", PERDURE_CORRUPT), every);
}

TEST(CampaignModel, NoticesAFirstStartThatIsNone) {
  EXPECT_EQ(judged_with(Lie::not_found, scenario_of(kTwoLaunches)), "what was promised comes back");
}

// Nodes come back with a part of the version: nobody can restore it, but this is no first start.
TEST(CampaignModel, NoticesAFirstStartWhereThereArePartsOnly) {
  EXPECT_EQ(judged_with(Lie::not_found, scenario_of("job ranks=2\n"
                                                    "launch nodes=0,1 store=full do=restore,checkpoint lost=1\n"
                                                    "launch nodes=0,1 store=full do=restore\n")),
            "not-found is a first start only");
}

/// Judges the lie about the latest version after losses in a group of three nodes that keeps one parity.
std::string judged_after_losing(const std::string& lost) {
  return judged_with(Lie::older, scenario_of("job ranks=3\n"
                                             "launch nodes=0,1,2 scheme=xor store=full "
                                             "do=restore,checkpoint,node,checkpoint,node lost=" +
                                             lost +
                                             "\n"
                                             "launch nodes=0,1,2 scheme=xor store=full do=restore\n"));
}

TEST(CampaignModel, ExpectsOfLevelNodeWhatTheSchemeSays) {
  EXPECT_EQ(judged_after_losing("1"), "the latest is never older than what was promised");
  EXPECT_EQ(judged_after_losing("0,1"), "") << "it is gone, and an older one may come";
}

TEST(CampaignModel, ExpectsOfLevelStoreThatAllNodesMayBeLost) {
  const std::string head = "job ranks=2\nlaunch nodes=0,1 do=restore,checkpoint,store,checkpoint,store lost=0,1";
  const std::string tail = "\nlaunch nodes=0,1 do=restore\n";
  EXPECT_EQ(judged_with(Lie::older, scenario_of(head + tail)), "the latest is never older than what was promised");
  EXPECT_EQ(judged_with(Lie::older, scenario_of(head + " flipped_segment=yes" + tail)),
            "the latest is never older than what was promised")
      << "that driver flips nothing";
  EXPECT_EQ(judged_with(Lie::older, scenario_of(head + " store_lost=yes" + tail)), "");
}

TEST(CampaignModel, NoticesAnotherJobsState) {
  const Scenario scenario = scenario_of(
      "job ranks=1\njob ranks=1 owner=second\n"
      "launch do=restore,checkpoint,store\n"
      "launch job=1 do=restore\n");
  EXPECT_EQ(judged(scenario, ideal_driver()), "");
  Told told;
  Answer restored;
  restored.begun = restored.done = true;
  restored.step = step_of(0, 1);
  restored.version = 1;
  Model model(scenario);
  Answer captured = restored, nothing = restored, stored = restored;
  nothing.status = PERDURE_NOT_FOUND;
  stored.level = PERDURE_LEVEL_STORE;
  told.answers = {{nothing, captured, stored}};
  EXPECT_TRUE(model.judge(0, told).empty());
  told.answers = {{restored}};
  const auto violations = model.judge(1, told);
  ASSERT_FALSE(violations.empty());
  EXPECT_EQ(violations[0].rule, "a job never goes on from another job's state");
}

TEST(CampaignModel, NoticesAnErrorOfOneRankOnly) {
  const Scenario scenario = scenario_of("job ranks=2\nlaunch nodes=0,1 crash=flush_begin:1 do=restore\n");
  Answer good, bad;
  good.begun = good.done = bad.begun = bad.done = true;
  good.status = PERDURE_NOT_FOUND;
  Model model(scenario);
  Told told;
  told.answers = {{good}, {bad}};
  const auto violations = model.judge(0, told);
  ASSERT_FALSE(violations.empty());
  EXPECT_EQ(violations[0].rule, "if any rank fails, all ranks get an error");
}

TEST(CampaignModel, NoticesTwoLaunchesOfOneNameAtOnce) {
  const std::string launches =
      "rival=yes do=restore,checkpoint\nlaunch rival=yes do=restore\nlaunch rival=yes hung=0 do=restore\n";
  const Scenario scenario = scenario_of("job ranks=1\nlaunch " + launches);
  const Scenario unwritten = scenario_of("job ranks=1\nlaunch store=full " + launches);
  Answer nothing, captured;
  nothing.begun = nothing.done = captured.begun = captured.done = true;
  nothing.status = PERDURE_NOT_FOUND;
  captured.step = step_of(0, 1);
  captured.version = 1;
  // Judges the status that a rival gets beside the first launch, or beside a later one, which has restored its state.
  const auto judged_in = [&](const Scenario& of, std::size_t launch, int rival) {
    Model model(of);
    Told told;
    told.answers = {{nothing, captured}};
    if (launch == 0) told.rival = rival;
    auto violations = model.judge(0, told);
    if (launch == 0) return violations.empty() ? std::string() : violations[0].rule;
    told.answers = {{captured}};
    told.rival = rival;
    violations = model.judge(launch, told);
    return violations.empty() ? std::string() : violations[0].rule;
  };
  const auto judged = [&](std::size_t launch, int rival) { return judged_in(scenario, launch, rival); };
  EXPECT_EQ(judged(1, PERDURE_BUSY), "");
  for (const int status : {PERDURE_OK, PERDURE_NOT_FOUND, PERDURE_MISMATCH})
    EXPECT_EQ(judged(1, status), "one launch at a time has a name") << status;
  EXPECT_EQ(judged(0, PERDURE_NOT_FOUND), "") << "nobody has written the name yet";
  EXPECT_EQ(judged_in(unwritten, 1, PERDURE_MISMATCH), "") << "the store did not take whose the name is";
  EXPECT_EQ(judged(2, PERDURE_OK), "") << "who says nothing for a while may be taken for dead";
}

TEST(CampaignModel, ExpectsThatOnlyALeftEnginesTierNeedsDescriptors) {
  const auto judged = [](const std::string& engines, const std::string& missing) {
    const Scenario scenario = scenario_of("job ranks=1\nlaunch mode=daemon do=checkpoint engines=" + engines +
                                          "\nlaunch " + missing + "do=restore\n");
    Answer captured, refused;
    captured.begun = captured.done = refused.begun = refused.done = true;
    captured.step = step_of(0, 0);
    captured.version = 1;
    refused.status = PERDURE_NO_SPACE;
    Model model(scenario);
    Told told;
    told.answers = {{captured}};
    EXPECT_TRUE(model.judge(0, told).empty());
    told.answers = {{refused}};
    const auto violations = model.judge(1, told);
    return violations.empty() ? std::string() : violations[0].rule;
  };
  EXPECT_EQ(judged("left", "missing=0 "), "");
  for (const auto& [engines, missing] : {std::pair("left", ""), std::pair("killed", "missing=0 ")})
    EXPECT_EQ(judged(engines, missing), "a restore says what it may say") << engines << " " << missing;
}

TEST(CampaignModel, ExpectsThatWhatWasForgottenStaysSoAsLongAsTheStoreIsThere) {
  const auto judged = [](bool store_gone) {
    const Scenario scenario = scenario_of("job ranks=1\nlaunch do=checkpoint\nlaunch do=restore\n");
    Answer captured;
    captured.begun = captured.done = true;
    captured.step = step_of(0, 0);
    captured.version = 1;
    Model model(scenario);
    Told told;
    told.answers = {{captured}};
    EXPECT_TRUE(model.judge(0, told).empty());
    Destroyed what;
    what.forgotten = true;
    model.destroyed(0, what);
    what.forgotten = false;
    what.store = store_gone;
    model.destroyed(0, what);
    const auto violations = model.judge(1, told);
    return violations.empty() ? std::string() : violations[0].rule;
  };
  EXPECT_EQ(judged(false), "what was forgotten does not come back");
  EXPECT_EQ(judged(true), "");
}

TEST(CampaignModel, NoticesALevelThatIsLowerThanTheOneThatWasWaitedFor) {
  const auto judged = [](const std::string& refused, int level) {
    const Scenario scenario = scenario_of("job ranks=1\nlaunch " + refused + "do=checkpoint,store\n");
    Answer captured;
    captured.begun = captured.done = true;
    captured.step = step_of(0, 1);
    captured.version = 1;
    Answer waited = captured;
    waited.level = level;
    Model model(scenario);
    Told told;
    told.answers = {{captured, waited}};
    const auto violations = model.judge(0, told);
    return violations.empty() ? std::string() : violations[0].rule;
  };
  const std::string refused = "refused=pread:/:BAD_ALLOC:9:1 ", rule = "the level told is the one that was waited for";
  for (const auto& launch : {std::string(), refused}) {
    EXPECT_EQ(judged(launch, PERDURE_LEVEL_STORE), "") << launch;
    EXPECT_EQ(judged(launch, PERDURE_LEVEL_PROCESS), rule) << launch;
  }
  EXPECT_EQ(judged("", PERDURE_LEVEL_NONE), rule);
  EXPECT_EQ(judged(refused, PERDURE_LEVEL_NONE), "") << "who asked was refused memory";
}

// The failure needs two launches: a checkpoint in the first, a restore in the second.
TEST(CampaignShrinker, LeavesWhatTheFailureNeeds) {
  int failing = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Scenario drawn = imagined(seed);
    const std::string rule = judged_with(Lie::flipped, drawn);
    if (rule.empty()) continue;
    ++failing;
    const auto fails = [&](const Scenario& scenario) { return judged_with(Lie::flipped, scenario) == rule; };
    const Scenario small = shrink(drawn, fails, 2000);
    EXPECT_TRUE(fails(small));
    EXPECT_LE(small.launches.size(), 2U) << text_of(small);
    EXPECT_EQ(small.jobs.size(), 1U) << text_of(small);
    EXPECT_EQ(small.jobs[0].ranks, 1) << text_of(small);
    for (const Launch& launch : small.launches) EXPECT_EQ(launch.acts.size(), 1U) << text_of(small);
  }
  EXPECT_GT(failing, 30);
}

// The arrays remain, with as few ranks as the failure needs.
TEST(CampaignShrinker, LeavesAsFewRanksAsTheFailureNeeds) {
  int failing = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Scenario drawn = draw_elastic(seed);
    const auto fails = [](const Scenario& scenario) {
      return judged_with(Lie::element, scenario) == "what is restored is what was captured" &&
             scenario.ranks_of(scenario.launches.size() - 1) >= 3;
    };
    if (!fails(drawn)) continue;
    ++failing;
    const Scenario small = shrink(drawn, fails, 2000);
    EXPECT_EQ(small.launches.size(), 2U) << text_of(small);
    EXPECT_EQ(small.ranks_of(1), 3) << text_of(small);
    EXPECT_EQ(small.launches[1].nodes.size(), 1U) << text_of(small);
    EXPECT_LE(small.ranks_of(std::size_t{0}), 3) << text_of(small);
  }
  EXPECT_GT(failing, 3);
}

TEST(CampaignShrinker, TriesOnlyWhatCanBeCarriedOutAndStops) {
  const Scenario drawn = draw_scenario(7);
  int tried = 0;
  const auto never = [&](const Scenario& scenario) {
    EXPECT_TRUE(can_be_carried_out(scenario)) << text_of(scenario);
    EXPECT_NE(scenario, drawn);
    ++tried;
    return false;
  };
  EXPECT_EQ(shrink(drawn, never, 1000), drawn);
  EXPECT_EQ(tried, static_cast<int>(smaller_ones(drawn).size()));
  EXPECT_EQ(shrink(drawn, never, 3), drawn);
  EXPECT_EQ(tried, static_cast<int>(smaller_ones(drawn).size()) + 3);
}

TEST(CampaignShrinker, KeepsWhatCannotBeLeftOut) {
  Scenario drawn = draw_scenario(11);
  drawn.launches.back().keep_last = 2;
  drawn.launches.back().acts = {Act::restore, Act::checkpoint, Act::checkpoint};
  const auto fails = [](const Scenario& scenario) {
    return std::any_of(scenario.launches.begin(), scenario.launches.end(),
                       [](const Launch& launch) { return launch.keep_last == 2 && launch.acts.size() >= 2; });
  };
  ASSERT_TRUE(fails(drawn)) << text_of(drawn);
  const Scenario small = shrink(drawn, fails, 2000);
  ASSERT_EQ(small.launches.size(), 1U);
  EXPECT_EQ(small.launches[0].acts.size(), 2U);
  EXPECT_EQ(small.jobs[0].ranks, 1) << text_of(small);
}

}  // namespace
