// Tests mesh checkpoints in Perdure itself: a process that dies anywhere resumes from them. Also tests damage, and
// other checkpoints of the same name.
#include "automatic/perdure_store.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <random>
#include <set>

#include "mesh/lives_testing.hpp"
#include "mesh/two_blocks_testing.hpp"
#include "support/ranks.hpp"
#include "support/seeds.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::mesh {
namespace {

using testing::HasSubstr;

class MeshInPerdure : public testing::Test {
 protected:
  perdure::Handle open() { return perdure::open(options()).value(); }
  std::string options() const {
    const std::string at = directory_.path();
    return "store.path=" + at + "/store;node.path=" + at + "/node;tier.file.path=" + at +
           "/file;chunk_bytes=64KiB;tier.memory.max_bytes=32MiB;tier.file.max_bytes=32MiB;engine.idle_exit=1";
  }
  test_support::TemporaryDirectory directory_;
};

constexpr int kKilled = 128 + SIGKILL, kBegins = 2, kGoesOn = 3, kAgain = 4;
constexpr std::uint64_t kTimesALife = 25;  // so many times slower than threads, because of processes and engines

class KilledInPerdure : public MeshInPerdure {
 protected:
  /// Runs the program in processes that are killed at random, until one ends.
  template <class Program>
  void expect_the_undisturbed_end(const Program& program, const std::string& name, std::uint64_t seed) {
    const auto whole = undisturbed(program);
    std::mt19937_64 random(seed);
    for (int life = 0, status = kKilled; status == kKilled || status == kAgain; ++life) {
      ASSERT_LT(life, 9);
      const std::uint64_t dies = life < 4 ? random() % whole.second : whole.second;
      test_support::RunOptions alone;
      alone.ranks = 1;
      const auto lived = test_support::run_ranks(alone, [&](const test_support::Rank& rank) {
        perdure::Handle handle(rank.open(options()));
        return live(program, handle, name, dies, whole.first);
      });
      status = lived.exit_codes[0];
      restarted_ += status == kGoesOn ? 1 : 0;
      ASSERT_NE(status, 1) << name << ", life " << life;
    }
  }
  int restarted_ = 0;

 private:
  template <class Program>
  static int live(const Program& program, perdure::Handle& handle, const std::string& name, std::uint64_t dies,
                  const End& expected) {
    Policy policy;
    policy.name = name;
    policy.every_loops = 20;
    policy.learns = 40;
    std::uint64_t at = 0;
    bool goes_on = false;
    Hooks hooks;
    hooks.initialised = [&](Mesh& mesh) { goes_on = protect(mesh, handle, policy).restarted(); };
    hooks.before_loop = [&] {
      if (at++ == dies) ::kill(::getpid(), SIGKILL);
    };
    std::mutex mutex;
    End end;
    try {
      end.answers = program.run(one_rank(), {1, true, false}, end.content, mutex, hooks);
    } catch (const std::runtime_error& why) {
      return std::string(why.what()).find("start the program again") != std::string::npos ? kAgain : 1;
    }
    return end != expected ? 1 : goes_on ? kGoesOn : kBegins;
  }
};

TEST_F(KilledInPerdure, AProcessGoesOnFromWhatItLeft) {
  const auto seeds = test_support::many_seeds(0, 6, 6, kTimesALife);
  for (std::uint64_t seed = seeds.begin; seed < seeds.end && !HasFailure(); ++seed)
    expect_the_undisturbed_end(RandomLoops(seed, 12), "seed" + std::to_string(seed), seed);
  if (seeds.usual) {
    EXPECT_GE(restarted_, 3);
  }
}

TEST_F(KilledInPerdure, OneOfTwoBlocksGoesOnFromWhatItLeft) {
  const auto seeds = test_support::many_seeds(0, 6, 6, kTimesALife);
  for (std::uint64_t seed = seeds.begin; seed < seeds.end && !HasFailure(); ++seed)
    expect_the_undisturbed_end(TwoBlocks::any(seed), "seed" + std::to_string(seed), seed);
  if (seeds.usual) {
    EXPECT_GE(restarted_, 3);
  }
}

TEST_F(MeshInPerdure, BoxesOfOneVersionComeBackAndARetiredOneIsOlder) {
  auto handle = open();
  Mesh mesh;
  const Block& block = mesh.block("block", {6, 4});
  auto& data = mesh.data(block, "data", {{}, 1, false, "K", "temperature"});
  const auto set = stored_set(data);
  const auto saved = [&](const Box& box, std::size_t number) {
    automatic::SavedBox one{&set, number, box, {}};
    one.parts.push_back({box, data.address(box.begin), {8, data.stride(1) * 8}});
    return one;
  };
  const std::vector<automatic::SavedBox> boxes{saved(box({{-1, 7}, {-1, 0}}), 0), saved(box({{0, 6}, {0, 4}}), 1)};
  const auto fill = [&](double value) {
    mesh.par_loop(
        "fill", block, data.whole(),
        [&](auto& d, const Index& at) { d(0, 0) = value + static_cast<double>(at[0] + 10 * at[1]); }, write(data),
        index());
  };
  const std::vector<std::byte> place(100, std::byte{1}), later(3000, std::byte{2});
  {
    const auto store = automatic::perdure_store(handle.native(), "run");
    EXPECT_EQ(store->newest(), std::nullopt);
    fill(100);
    ASSERT_TRUE(store->write(place, boxes));
    fill(200);
    ASSERT_TRUE(store->write(later, std::span(boxes).first(1)));
  }
  const auto store = automatic::perdure_store(handle.native(), "run");
  EXPECT_EQ(store->newest(), later);
  fill(0);
  ASSERT_TRUE(store->restore(std::span(boxes).first(1)));
  EXPECT_EQ(*data.at({6, -1}), 200 + 6 - 10);
  EXPECT_EQ(*data.at({0, 0}), 0);
  store->retire_restored();
  const auto again = automatic::perdure_store(handle.native(), "run");
  EXPECT_EQ(again->newest(), place);
  ASSERT_TRUE(again->restore(boxes));
  EXPECT_EQ(*data.at({6, -1}), 100 + 6 - 10);
  EXPECT_EQ(*data.at({5, 3}), 100 + 5 + 30);
  EXPECT_EQ(*data.at({-1, 2}), -1 + 20) << "in no box";
}

TEST_F(MeshInPerdure, BoxesMayTakeTheMemoryThatOthersHadBefore) {
  auto handle = open();
  Mesh mesh;
  const Block& block = mesh.block("block", {8});
  auto& data = mesh.data(block, "data");
  const auto set = stored_set(data);
  const auto saved = [&](std::int64_t begin, std::int64_t end, std::size_t number) {
    automatic::SavedBox one{&set, number, box({{begin, end}}), {}};
    one.parts.push_back({one.box, data.address(one.box.begin), {8}});
    return one;
  };
  const std::vector<std::byte> place(10);
  const auto store = automatic::perdure_store(handle.native(), "run");
  EXPECT_EQ(store->newest(), std::nullopt);
  EXPECT_TRUE(store->write(place, std::vector{saved(0, 4, 0), saved(4, 8, 1)}));
  const auto done = store->write(place, std::vector{saved(4, 8, 0), saved(0, 4, 1)});
  EXPECT_TRUE(done) << done.error();
  const auto refused = store->write(place, std::vector{saved(0, 4, 0), saved(2, 6, 1)});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error(), HasSubstr("overlaps"));
  store->retire_written();  // no version was written before
  EXPECT_TRUE(automatic::perdure_store(handle.native(), "run")->newest());
  EXPECT_TRUE(store->write(place, std::vector{saved(0, 8, 0)}));
  EXPECT_THROW(
      {
        protect(mesh, automatic::perdure_store(handle.native(), "run"), Policy(), [](const auto&) {});
        mesh.data(block, "late");
      },
      std::runtime_error);
}

/// One of two ranks, for tests that need only its number.
class OneOfTwo final : public Ranks {
 public:
  explicit OneOfTwo(int rank) : rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return 2; }
  void exchange(std::span<const Message>, std::span<const Message>) override {}
  void combine(std::span<double>, Combine) override {}
  void combine(std::span<std::int64_t>) override {}

 private:
  int rank_;
};

// A box of rank 1 reaches outside of its data set. The next write succeeds on both ranks, with the same version number.
TEST_F(MeshInPerdure, AWriteThatOneRankCannotBeginIsAnErrorOfBothAndTheNextIsGood) {
  test_support::RunOptions two;
  two.ranks = 2;
  const auto outcome = test_support::run_ranks(two, [&](const test_support::Rank& rank) {
    perdure::Handle handle(rank.open(options()));
    Mesh mesh(std::make_unique<OneOfTwo>(rank.rank));
    const Block& block = mesh.block("block", {8});
    auto& data = mesh.data(block, "data", {{}, 0, false, "", ""});
    const auto set = stored_set(data);
    const automatic::SavedBox saved{&set, 0, data.whole(), set.owned};
    const auto store = automatic::perdure_store(handle.native(), "run");
    const std::vector<std::byte> place(10);
    if (store->newest()) return 1;
    auto wrong = saved;
    if (rank.rank == 1) wrong.parts[0].box.end[0] += 100;
    const auto refused = store->write(place, std::span(&wrong, 1));
    if (refused || refused.error().empty()) return 2;
    if (!store->write(place, std::span(&saved, 1))) return 3;
    return automatic::perdure_store(handle.native(), "run")->newest() == place ? 0 : 4;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
}

TEST_F(MeshInPerdure, PlacesOfEverySizeComeBackAndGrowInLargeSteps) {
  auto handle = open();
  const auto store = automatic::perdure_store(handle.native(), "run");
  std::set<std::uint64_t> sizes;
  std::int64_t version = 0;
  for (const std::size_t size : {0U, 1U, 4087U, 4088U, 4089U, 50'000U, 50'001U, 51'000U}) {
    std::vector<std::byte> place(size, std::byte{7});
    ASSERT_TRUE(store->write(place, {}));
    sizes.insert(handle.stored_array("run", ++version, 0).value().extents[0]);
    EXPECT_EQ(automatic::perdure_store(handle.native(), "run")->newest(), place) << size;
  }
  EXPECT_EQ(sizes.size(), 3U);
}

TEST_F(MeshInPerdure, WhatNoMeshHasMadeIsRefused) {
  auto handle = open();
  double value = 1;
  std::int64_t version = 0;
  for (const char* name : {"place", "temperature"}) {
    handle.protect_replicated(0, name, value).value();
    handle.checkpoint("run", ++version).value();
    const auto store = automatic::perdure_store(handle.native(), "run");
    try {
      (void)store->newest();
      FAIL();
    } catch (const std::runtime_error& refused) {
      EXPECT_THAT(refused.what(), HasSubstr("'run' was not made by its loops"));
    }
  }
}

}  // namespace
}  // namespace perdure::mesh
