// Tests that runs killed anywhere end as the undisturbed run does. They resume on other numbers of ranks, with garbage
// in all elements that were written and not saved.
#include "mesh/protection.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "mesh/lives_testing.hpp"
#include "mesh/random_loops_testing.hpp"
#include "support/seeds.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::mesh {
namespace {

using testing::HasSubstr;

TEST(ProtectedMeshes, KilledAnywhereEndAsTheUndisturbedRun) {
  const auto seeds = test_support::many_seeds(0, 150, 30);
  Lives lives;
  for (std::uint64_t seed = seeds.begin; seed < seeds.end && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    expect_the_undisturbed_end(RandomLoops(seed, 12), seed, lives);
  }
  if (seeds.usual) {
    EXPECT_GT(lives.restarts, seeds.count());
    EXPECT_GT(lives.foreseen, seeds.count());
    EXPECT_GT(lives.aside, seeds.count() / 4);
  }
  RecordProperty("given up", static_cast<int>(lives.given_up));
}

/// A typical program in time steps: it computes `next` from `now` with `work` as scratch, then `next` becomes `now`.
/// From step `changes` on, one more loop reads `work` of the step before.
class ProtectedSteps : public testing::Test {
 protected:
  /// Returns the sum of `now`. Throws the mesh's exceptions, or Died before loop number `dies`.
  double run(const Policy& policy, std::uint64_t dies = ~std::uint64_t{0}, bool other_sets = false) {
    Mesh mesh;
    const Block& block = mesh.block("block", {32, 8});
    auto &now = mesh.data(block, "now"), &next = mesh.data(block, "next"), &work = mesh.data(block, "work");
    auto& late = mesh.data(block, "late");
    if (other_sets) mesh.data(block, "more");
    const Box cells = box({{0, 32}, {0, 8}});
    const auto start = [](auto& value, const Index& at) { value(0, 0) = static_cast<double>(at[0] * at[1] % 7); };
    mesh.par_loop("start", block, now.whole(), start, write(now), index());
    mesh.par_loop("start", block, work.whole(), start, write(work), index());
    protection_ = &protect(mesh, std::make_unique<MemoryStore>(shared_, mesh), policy,
                           [this](const std::string& said) { said_.push_back(said); });
    std::uint64_t loops = 0;
    const auto before = [&] {
      taken_ = protection_->taken();
      if (loops++ == dies) throw Died();
    };
    const Stencil star = Stencil::star(2);
    for (std::int64_t step = 0; step < last_step_; ++step) {
      if (fast_forwards_) {
        std::int64_t payload = step;
        if (const auto there = protection_->fast_forward(std::as_bytes(std::span(&payload, 1))))
          std::memcpy(&step, there->data(), sizeof step);
        steps_.push_back(step);
      }
      if (late_ >= 0 && (step == late_ || step == late_again_)) {
        before();
        mesh.par_loop(
            "late", block, cells,
            [step, this](auto& l, auto& n) { step == late_ ? l(0, 0) = n(0, 0) : n(0, 0) += l(0, 0); },
            read_write(late), read_write(now));
      }
      if (step >= changes_) {
        before();
        mesh.par_loop(
            "more", block, cells, [](const auto& w, auto& n) { n(0, 0) += w(0, 0); }, read(work), read_write(now));
      }
      before();
      mesh.par_loop(
          "work", block, cells,
          [](const auto& n, auto& w) { w(0, 0) = n(0, 0) + n(1, 0) + n(-1, 0) + n(0, 1) + n(0, -1); }, read(now, star),
          write(work));
      before();
      mesh.par_loop(
          "advance", block, cells,
          [](const auto& n, const auto& w, auto& x) { x(0, 0) = 0.5 * n(0, 0) + 0.1 * w(0, 0); }, read(now), read(work),
          write(next));
      before();
      mesh.par_loop(
          "reset", block, cells, [](const auto& x, auto& n) { n(0, 0) = x(0, 0); }, read(next), write(now));
    }
    protection_->ended();
    auto sum = mesh.sum();
    mesh.par_loop(
        "sum", block, now.whole(), [](const auto& n, double& all) { all += n(0, 0); }, read(now), into(sum));
    const double result = mesh.collect(sum);
    taken_ = protection_->taken();
    report_ = protection_->report();
    return result;
  }
  std::string complaint(const Policy& policy, bool other_sets = false) {
    try {
      run(policy, ~std::uint64_t{0}, other_sets);
    } catch (const std::runtime_error& why) {
      return why.what();
    }
    return "";
  }
  Policy every(std::uint64_t loops) {
    Policy policy;
    policy.every_loops = loops;
    policy.learns = 30;
    return policy;
  }
  std::int64_t changes_ = 1000, last_step_ = 40, late_ = -1, late_again_ = 25;
  bool fast_forwards_ = false;
  std::vector<std::int64_t> steps_;
  SharedVersions shared_;
  automatic::Protection* protection_ = nullptr;
  std::vector<std::string> said_;
  std::vector<Taken> taken_;
  track::Report report_;
};

TEST_F(ProtectedSteps, SaveOneFieldWhereOneIsLiveAndFindThatPlace) {
  run(every(31));
  ASSERT_GE(taken_.size(), 2U);
  for (const Taken& taken : taken_) {
    EXPECT_TRUE(taken.before == "work" || taken.before == "reset") << taken.before;
    EXPECT_EQ(taken.bytes, 32U * 8 * 8) << "its cells, and no halo: that was written once, by every run";
    EXPECT_EQ(taken.state_bytes, 4U * 36 * 12 * 8);
    EXPECT_TRUE(taken.foreseen);
  }
  ASSERT_EQ(report_.loops.size(), 3U);
  EXPECT_EQ(report_.loops[1].name, "advance");
  EXPECT_EQ(report_.loops[1].most.bytes, 2U * 32 * 8 * 8);
}

TEST_F(ProtectedSteps, SayInAReportWhereACheckpointIsSmallest) {
  const test_support::TemporaryDirectory directory;
  Policy policy = every(31);
  policy.report = directory / "report.json";
  run(policy);
  std::ifstream file(policy.report);
  const auto report = track::parse_report(std::string{std::istreambuf_iterator<char>(file), {}});
  ASSERT_TRUE(report) << report.error();
  EXPECT_EQ(report->name, "mesh");
  ASSERT_EQ(report->loops.size(), 3U);
  EXPECT_TRUE(report->loops[0].chosen);
  EXPECT_EQ(report->loops[1].most.bytes, 2U * 32 * 8 * 8);
  ASSERT_EQ(report->sets.size(), 4U);
  EXPECT_EQ(report->sets[0].why, "read before it is written");
  EXPECT_EQ(report->sets[2].why, "written again before it is read");
  ASSERT_EQ(report->step.size(), 3U) << "one time step, of which the stretch has ten";
  EXPECT_EQ(report->step[0].loop, "work");
  EXPECT_EQ(report->step[1].bytes, 2U * 32 * 8 * 8);
}

TEST_F(ProtectedSteps, GoOnFromEveryLoop) {
  const double expected = run(every(1000));
  for (std::uint64_t dies = 0; dies < 120; dies += 7) {
    shared_.versions.clear();
    EXPECT_THROW(run(every(10), dies), Died);
    EXPECT_EQ(run(every(10)), expected) << dies;
  }
}

TEST_F(ProtectedSteps, ThatTurnToOtherDataAreNotSavedByWhatWasLearntBefore) {
  changes_ = 20;
  Policy policy = every(12);
  policy.before = "reset";
  const double expected = run(every(1000));
  shared_.versions.clear();
  said_.clear();
  EXPECT_EQ(run(policy), expected);
  ASSERT_FALSE(said_.empty());
  EXPECT_THAT(said_.front(), HasSubstr("need other data than they did before"));
  EXPECT_TRUE(
      std::any_of(shared_.versions.begin(), shared_.versions.end(), [](const auto& one) { return one.retired; }));
  for (std::uint64_t dies = 50; dies < 138; dies += 3) {
    shared_.versions.clear();
    EXPECT_THROW(run(policy, dies), Died);
    double result = 0;
    for (int life = 0; result == 0 && life < 5; ++life) try {
        result = run(policy);
      } catch (const std::runtime_error& why) {
        ASSERT_THAT(why.what(), HasSubstr("start the program again"));
      }
    EXPECT_EQ(result, expected) << dies;
  }
}

TEST_F(ProtectedSteps, TakeAListThatHasAllAndRefuseOneThatHasNot) {
  Policy policy = every(31);
  policy.only = {"now"};
  policy.before = "work";
  const double expected = run(policy);
  ASSERT_FALSE(taken_.empty());
  EXPECT_THROW(run(policy, 90), Died);
  EXPECT_EQ(run(policy), expected);
  shared_.versions.clear();
  policy.before = "advance";
  EXPECT_THAT(complaint(policy),
              HasSubstr("behind loop 'advance' [0:32, 0:8] of data set 'work' is read before it is written"));
  EXPECT_TRUE(shared_.versions.back().retired);
  policy.only = {"never"};
  EXPECT_THAT(complaint(policy), HasSubstr("a data set 'never', which there is not"));
}

// Field `late` is not saved, and a loop misses it only after a while.
TEST_F(ProtectedSteps, WhoseListIsWatchedForAWhileOnlyGoOnUntilTheyMissSomething) {
  late_ = 5;
  late_again_ = 1000;
  Policy policy = every(10);
  policy.only = {"now"};
  policy.before = "work";
  policy.decides = 12;
  EXPECT_EQ(complaint(policy), "") << "until the end of its region nobody has read it";
  EXPECT_EQ(said_, std::vector<std::string>());
  EXPECT_GT(taken_.size(), 2U);
  shared_.versions.clear();
  policy.decides = 20000;
  late_again_ = 25;
  EXPECT_THAT(complaint(policy), HasSubstr("of data set 'late' is read before it is written"));
}

TEST_F(ProtectedSteps, ThatLackSomethingDoNotHandItOn) {
  late_ = 5;
  Policy policy = every(30);
  policy.only = {"now"};
  policy.before = "work";
  EXPECT_THROW(run(policy, 50), Died);
  ASSERT_EQ(shared_.versions.size(), 1U);
  policy.every_loops = 3;
  EXPECT_THAT(complaint(policy), HasSubstr("start the program again"));
  EXPECT_EQ(shared_.versions.size(), 1U) << "no other is made before all is there";
  EXPECT_TRUE(shared_.versions[0].retired);
}

TEST_F(ProtectedSteps, OfAnotherProgramAreRefused) {
  EXPECT_THROW(run(every(10), 100), Died);
  EXPECT_THAT(complaint(every(10), true), HasSubstr("was made with other data sets (4, now 5)"));
  changes_ = 0;
  EXPECT_THAT(complaint(every(10)), HasSubstr("loop 0 of"));
}

TEST_F(ProtectedSteps, ThatEndBeforeTheyHaveComeToTheirPlaceSaySo) {
  EXPECT_THROW(run(every(10), 100), Died);
  last_step_ = 10;
  EXPECT_THAT(complaint(every(10)), HasSubstr("the program ended before loop"));
}

TEST_F(ProtectedSteps, GoThereAtOnceByAPayload) {
  fast_forwards_ = true;
  const double expected = run(every(10));
  shared_.versions.clear();
  EXPECT_THROW(run(every(10), 100), Died);
  steps_.clear();
  EXPECT_EQ(run(every(10)), expected);
  ASSERT_GT(steps_.size(), 2U);
  EXPECT_GT(steps_[0], 20) << "the steps before are not even skipped";
  EXPECT_EQ(steps_[1], steps_[0] + 1);
}

TEST_F(ProtectedSteps, BeginOnlyBeforeTheLoopThatThePolicyNames) {
  Policy policy = every(31);
  policy.before = "advance";
  run(policy);
  ASSERT_FALSE(taken_.empty());
  for (const Taken& taken : taken_) EXPECT_EQ(taken.before, "advance");
}

}  // namespace
}  // namespace perdure::mesh
