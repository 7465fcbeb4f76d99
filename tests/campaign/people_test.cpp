// Tests the parts of the people campaign: what it draws, which defects its model notices, and how it shrinks a failure.
// Runs no program.
#include <gtest/gtest.h>

#include <set>

#include "campaign/people_model.hpp"
#include "campaign/shrinker.hpp"

namespace {

using namespace perdure::campaign;

constexpr unsigned kPeople = 300;

std::string heard_of(const People& people, Wrong wrong) {
  std::string told = text_of(people);
  for (const auto& violation : carry_out(people, *imagined_people(wrong), &told))
    told += "violated: " + violation.rule + ": " + violation.text + "\n";
  return told;
}

/// Returns the rules that are violated in `seeds` descriptions, counting the first rule of each.
std::set<std::string> rules_violated(Wrong wrong, unsigned seeds = kPeople) {
  std::set<std::string> rules;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    const auto violations = carry_out(draw_people(seed), *imagined_people(wrong));
    if (!violations.empty()) rules.insert(violations[0].rule);
  }
  return rules;
}

TEST(PeopleAsText, AreTheSameAfterTheyWereWrittenAndRead) {
  for (unsigned seed = 0; seed < kPeople; ++seed) {
    const People drawn = draw_people(seed);
    ASSERT_TRUE(can_be_carried_out(drawn)) << text_of(drawn);
    const auto again = people_from(text_of(drawn));
    ASSERT_TRUE(again) << text_of(drawn);
    EXPECT_EQ(*again, drawn);
    EXPECT_EQ(draw_people(seed), drawn) << "they follow from the seed alone";
  }
}

TEST(PeopleAsText, ThatCannotBeCarriedOutAreRefused) {
  for (const char* text :
       {"", "people\n", "start colour=red\n", "start writes=many\n", "start regions=0:x\n", "start stop=hug\n",
        "start regions=0:x:1::,0:y:1::\n", "start renamed=x>y,y>x\n", "start computes=yes\n", "start from=there\n",
        "start regions=0:x:1:i8:f\n", "people keep_last=0\nstart\n", "dance\n"})
    EXPECT_FALSE(people_from(text)) << text;
  EXPECT_TRUE(people_from("start\n"));
}

TEST(PeopleDrawn, DoAllThatTheyCanDo) {
  std::set<std::string> drawn;
  for (unsigned seed = 0; seed < kPeople; ++seed) {
    const People people = draw_people(seed);
    for (const Start& start : people.starts) {
      for (const auto& word : {"mode " + start.mode, "stop " + start.stop, "end " + start.end, "memory " + start.memory,
                               "case " + start.study})
        drawn.insert(word);
      drawn.insert(start.from.size() < 3 ? "from a number" : "from " + start.from);
      for (const auto& [said, word] :
           std::vector<std::pair<bool, const char*>>{{start.supervised, "supervised"},
                                                     {start.asks, "asks"},
                                                     {start.computes, "computes"},
                                                     {start.machine_lost, "machine lost"},
                                                     {start.refuse, "refuse"},
                                                     {start.stubborn, "stubborn"},
                                                     {start.descriptors > 0, "descriptors"},
                                                     {start.room_kib > 0, "room"},
                                                     {start.grace_ms > 0, "grace"},
                                                     {!start.code.renamed.empty(), "renamed"},
                                                     {!start.code.passed_over.empty(), "passed over"},
                                                     {start.job != "first", "another job"}})
        if (said) drawn.insert(word);
    }
  }
  for (const char* wanted :
       {"mode daemon", "stop term",    "stop kill",    "end return", "end exit",  "end quick",     "end abort",
        "memory swap", "memory clear", "case b",       "from none",  "from left", "from a number", "supervised",
        "asks",        "computes",     "machine lost", "refuse",     "stubborn",  "descriptors",   "room",
        "grace",       "renamed",      "passed over",  "another job"})
    EXPECT_TRUE(drawn.contains(wanted)) << wanted;
}

// The driver asks the product's own matching which regions fit; the model has its own implementation.
TEST(PeopleModel, AgreesWithWhoKeepsEveryPromise) {
  for (unsigned seed = 0; seed < 5 * kPeople; ++seed) {
    const auto violations = carry_out(draw_people(seed), *imagined_people(Wrong::nothing));
    ASSERT_TRUE(violations.empty()) << "seed " << seed << "\n" << heard_of(draw_people(seed), Wrong::nothing);
  }
}

struct Caught {
  Wrong wrong;
  const char* rule;
};
class PeopleModelNotices : public testing::TestWithParam<Caught> {};

TEST_P(PeopleModelNotices, WhatIsDoneWrong) {
  const auto rules = rules_violated(GetParam().wrong);
  std::string all;
  for (const auto& rule : rules) all += rule + "\n";
  EXPECT_TRUE(rules.contains(GetParam().rule)) << all;
}

INSTANTIATE_TEST_SUITE_P(Drivers, PeopleModelNotices,
                         testing::Values(Caught{Wrong::older, "what was acknowledged comes back"},
                                         Caught{Wrong::other_content, "what is restored is what was captured"},
                                         Caught{Wrong::first_start, "nobody begins anew where there is something"},
                                         Caught{Wrong::in_silence, "what does not fit is refused"},
                                         Caught{Wrong::by_number, "what is restored is what was captured"},
                                         Caught{Wrong::one_word, "what does not fit is told, all of it"},
                                         Caught{Wrong::touches, "what is refused touches nothing"},
                                         Caught{Wrong::gives_up, "nobody begins anew where there is something"},
                                         Caught{Wrong::says_nothing, "what stays behind is said"},
                                         Caught{Wrong::any_case, "another case is refused"},
                                         Caught{Wrong::any_start, "a new start is refused where that is wanted"},
                                         Caught{Wrong::empty_owner, "an owner without elements is refused by name"},
                                         Caught{Wrong::loses_unclosed, "nobody begins anew where there is something"},
                                         Caught{Wrong::wrong_number, "not-found is a first start only"},
                                         Caught{Wrong::loses_killed, "what was acknowledged comes back"}),
                         [](const auto& caught) {
                           return "wrong_" + std::to_string(static_cast<int>(caught.param.wrong));
                         });

TEST(PeopleMadeSmaller, StillFailAndHaveOnlyWhatIsNeeded) {
  const auto fails = [](const People& people) {
    const auto violations = carry_out(people, *imagined_people(Wrong::one_word));
    return !violations.empty() && violations[0].rule == "what does not fit is told, all of it";
  };
  unsigned seed = 0;
  while (seed < kPeople && !fails(draw_people(seed))) ++seed;
  const People drawn = draw_people(seed);
  ASSERT_TRUE(fails(drawn));
  const People smallest = shrink_by(
      drawn, [](const People& one) { return smaller_ones(one); }, fails, 400);
  EXPECT_TRUE(fails(smallest)) << text_of(smallest);
  EXPECT_LE(smallest.starts.size(), 2U) << text_of(smallest);
  EXPECT_LT(text_of(smallest).size(), text_of(drawn).size());
}

TEST(KeptBranches, AreReadFromWhatAProgramIsTold) {
  const auto kept = kept_branch(
      "perdure: checkpoint run: this start has restored nothing, and what an earlier one wrote is kept as branch "
      "3f9a12 "
      "(newest: run@3f9a12:300); this start writes branch 00aa11. To go on");
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->branch, "3f9a12");
  EXPECT_EQ(kept->newest, 300);
  EXPECT_FALSE(kept_branch("perdure: nothing"));
}

}  // namespace
