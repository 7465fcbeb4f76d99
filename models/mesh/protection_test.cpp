// Runs that are killed anywhere and go on from their checkpoints, on other numbers of ranks, with garbage in all that
// was written and not saved, end as the undisturbed run.
#include "mesh/protection.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <random>

#include "mesh/random_loops_testing.hpp"
#include "mesh/rows.hpp"
#include "mesh/thread_ranks_testing.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_directory.hpp"
#include "track/place_codec.hpp"

namespace perdure::mesh {
namespace {

using testing::HasSubstr;

struct Died : std::runtime_error {
  Died() : std::runtime_error("died") {}
};

/// Versions that all ranks of all lives see.
struct SharedVersions {
  struct Version {
    std::vector<std::byte> place;
    std::map<std::pair<std::size_t, std::uint64_t>, std::vector<std::byte>> elements;
    std::uint64_t expected = 0;
    bool whole = false, retired = false;
  };
  std::mutex mutex;
  std::vector<Version> versions;
  int dies_in_write = -1;
  int written = 0;
};

class MemoryStore final : public automatic::CheckpointStore {
 public:
  MemoryStore(SharedVersions& shared, Mesh& mesh) : shared_(shared), mesh_(mesh) {}
  std::optional<std::vector<std::byte>> newest() override {
    std::lock_guard guard(shared_.mutex);
    for (std::size_t i = shared_.versions.size(); i-- > 0;)
      if (shared_.versions[i].whole && !shared_.versions[i].retired) {
        newest_ = i;
        return shared_.versions[i].place;
      }
    return std::nullopt;
  }
  bool restore(std::span<const automatic::SavedBox> boxes) override {
    std::lock_guard guard(shared_.mutex);
    const auto& version = shared_.versions[newest_];
    spoil(*track::decode_place(version.place));
    for (const automatic::SavedBox& saved : boxes)
      each_element(saved, [&](std::uint64_t place, std::byte* address) {
        const auto& bytes = version.elements.at({saved.number, place});
        std::memcpy(address, bytes.data(), bytes.size());
      });
    return true;
  }
  tl::expected<void, std::string> write(std::span<const std::byte> place,
                                        std::span<const automatic::SavedBox> boxes) override {
    barrier();
    if (mesh_.ranks().rank() == 0) {
      std::lock_guard guard(shared_.mutex);
      shared_.versions.push_back({{place.begin(), place.end()}, {}, 0, false, false});
      for (const automatic::SavedBox& saved : boxes) shared_.versions.back().expected += saved.box.elements();
    }
    barrier();
    {
      std::lock_guard guard(shared_.mutex);
      auto& version = shared_.versions.back();
      if (!std::equal(place.begin(), place.end(), version.place.begin(), version.place.end()))
        throw std::logic_error("the place differs between ranks");
      for (const automatic::SavedBox& saved : boxes)
        each_element(saved, [&](std::uint64_t at, const std::byte* address) {
          if (!version.elements.emplace(std::pair(saved.number, at), std::vector(address, address + 8)).second)
            throw std::logic_error("two have an element");
        });
    }
    barrier();
    if (shared_.dies_in_write == shared_.written) throw Died();
    barrier();
    if (mesh_.ranks().rank() == 0) {
      std::lock_guard guard(shared_.mutex);
      if (shared_.versions.back().elements.size() != shared_.versions.back().expected)
        throw std::logic_error("there are holes");
      shared_.versions.back().whole = true;
      ++shared_.written;
    }
    barrier();
    return {};
  }
  tl::expected<void, std::string> refuse(const std::string& why) override { return tl::unexpected(why); }
  void retire_written() override { retire_from(shared_.versions.size() - 1); }
  void retire_restored() override { retire_from(newest_); }
  bool any(bool here) override { return here; }
  tl::expected<void, std::string> finish() override { return {}; }

 private:
  void retire_from(std::size_t first) {
    barrier();
    std::lock_guard guard(shared_.mutex);
    for (std::size_t i = first; i < shared_.versions.size(); ++i) shared_.versions[i].retired = true;
  }
  void barrier() {
    double nothing = 0;
    mesh_.ranks().combine(std::span(&nothing, 1), Ranks::Combine::sum);
  }
  template <class Use>
  static void each_element(const automatic::SavedBox& saved, const Use& use) {
    for (const auto& part : saved.parts)
      each_row(part.box, [&](Index at) {
        for (; at[0] < part.box.end[0]; ++at[0]) {
          std::uint64_t place = 0;
          std::int64_t offset = 0;
          for (unsigned d = part.box.dimensions; d-- > 0;) {
            place = place * static_cast<std::uint64_t>(saved.box.end[d] - saved.box.begin[d]) +
                    static_cast<std::uint64_t>(at[d] - saved.box.begin[d]);
            offset += (at[d] - part.box.begin[d]) * part.strides[d];
          }
          use(place, part.address + offset);
        }
      });
  }
  // Ghosts, too.
  void spoil(const track::Place& place) {
    for (std::size_t set = 0; set < place.written.size(); ++set)
      for (const Box& box : place.written[set].boxes()) {
        const Dataset& data = *mesh_.datasets()[set];
        const Box here = intersection(box, data.local());
        if (here.empty()) continue;
        each_row(here, [&](Index at) {
          for (; at[0] < here.end[0]; ++at[0]) std::memset(data.address(at), 0xa5, data.element_bytes());
        });
      }
  }

  SharedVersions& shared_;
  Mesh& mesh_;
  std::size_t newest_ = 0;
};

struct Told {
  std::mutex mutex;
  std::vector<std::string> said;
  std::vector<Taken> taken;
  bool restarted = false;
};

/// One life of a program on so many ranks, that dies before the loop of number `dies`. Its answers; nothing when it
/// died.
std::optional<std::vector<double>> live(const RandomLoops& program, int ranks, const Policy& policy,
                                        SharedVersions& shared, std::uint64_t dies, Told& told) {
  std::optional<std::vector<double>> answers;
  RandomLoops::Content content;
  std::mutex mutex;
  try {
    on_ranks(ranks, [&](std::unique_ptr<Ranks> one) {
      Protection* protection = nullptr;
      std::uint64_t loops = 0;
      const bool first = one->rank() == 0;
      RandomLoops::Hooks hooks;
      hooks.initialised = [&](Mesh& mesh) {
        protection = &protect(mesh, std::make_unique<MemoryStore>(shared, mesh), policy, [&](const std::string& said) {
          std::lock_guard guard(told.mutex);
          told.said.push_back(said);
        });
      };
      hooks.before_loop = [&] {
        if (loops++ == dies) throw Died();
        if (!first) return;
        std::lock_guard guard(told.mutex);
        told.taken = protection->taken();
        told.restarted = protection->restarted();
      };
      const auto mine = program.run(std::move(one), {1, true, false}, content, mutex, hooks);
      std::lock_guard guard(mutex);
      if (answers && *answers != mine) throw std::logic_error("ranks have other answers");
      answers = mine;
    });
  } catch (const std::logic_error&) {
    throw;
  } catch (const std::runtime_error& why) {
    const std::string text = why.what();
    if (text != "died" && text != "another rank has died" && text.find("it was given up") == std::string::npos) throw;
    return std::nullopt;
  }
  return answers;
}

TEST(ProtectedMeshes, KilledAnywhereEndAsTheUndisturbedRun) {
  constexpr std::uint64_t kSeeds = test_support::unless_sanitized(150, 30);
  std::size_t restarts = 0, foreseen = 0, aside = 0, given_up = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const RandomLoops program(seed, 12);
    std::mutex mutex;
    RandomLoops::Content content;
    std::uint64_t loops = 0;
    RandomLoops::Hooks counting;
    counting.before_loop = [&] { ++loops; };
    const auto expected = program.run(one_rank(), {1, true, false}, content, mutex, counting);
    std::mt19937_64 random(seed);
    SharedVersions shared;
    Told told;
    std::optional<std::vector<double>> answers;
    for (int life = 0; !answers; ++life) {
      ASSERT_LT(life, 40);
      Policy policy;
      policy.every_loops = 5 + random() % 40;
      policy.learns = 20 + random() % 60;
      policy.foresees = random() % 4 != 0;
      policy.decides = random() % 3 == 0 ? 10 : 20000;
      const int ranks = 1 + static_cast<int>(random() % 4);
      if (!Division::among(program.cells(), ranks, 2)) continue;
      shared.dies_in_write = random() % 4 == 0 ? shared.written + static_cast<int>(random() % 3) : -1;
      const std::uint64_t dies = life < 6 ? random() % (loops + 20) : ~std::uint64_t{0};
      if (life >= 6) shared.dies_in_write = -1;
      answers = live(program, ranks, policy, shared, dies, told);
      restarts += told.restarted ? 1 : 0;
      for (const Taken& taken : told.taken) ++(taken.foreseen ? foreseen : aside);
      told.taken.clear();
      told.restarted = false;
    }
    given_up += told.said.size();
    ASSERT_EQ(*answers, expected);
  }
  EXPECT_GT(restarts, kSeeds);
  EXPECT_GT(foreseen, kSeeds);
  EXPECT_GT(aside, kSeeds / 4);
  RecordProperty("given up", static_cast<int>(given_up));
}

/// A program in time steps, as codes are: `next` is computed from `now`, with `work` on the way, and becomes it at the
/// end. From step `changes` on a loop more reads `work` of the step before.
class ProtectedSteps : public testing::Test {
 protected:
  /// The sum of `now`; throws what the mesh throws, or Died before the loop of number `dies`.
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
  Protection* protection_ = nullptr;
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

// Field `late` is in no list, and nobody misses it for long.
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
