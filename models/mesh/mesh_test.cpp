// Tests that loops on any number of ranks and threads give the result of one; reductions; and loops that break their
// declaration.
#include "mesh/mesh.hpp"

#include <gmock/gmock.h>

#include <mutex>
#include <set>

#include "mesh/divided.hpp"
#include "mesh/random_loops_testing.hpp"
#include "mesh/thread_ranks_testing.hpp"
#include "support/seeds.hpp"

namespace perdure::mesh {
namespace {

using testing::HasSubstr;

TEST(Divisions, HaveEveryCellOnceAndCutAsLittleAsTheyCan) {
  const std::int64_t cells[] = {40, 17, 9};
  for (const int ranks : {1, 2, 3, 4, 6, 7, 12, 24}) {
    const auto division = divided(cells, ranks, 2);
    ASSERT_TRUE(division) << division.error();
    ASSERT_EQ(division->ranks(), ranks);
    std::int64_t elements = 0;
    const Box all = box({{-2, 43}, {-2, 20}, {-2, 12}});
    for (int rank = 0; rank < ranks; ++rank) {
      elements += static_cast<std::int64_t>(intersection(all, division->part(rank)).elements());
      for (unsigned d = 0; d < 3; ++d)
        if (const int above = division->neighbour(rank, d, true); above >= 0) {
          EXPECT_EQ(division->neighbour(above, d, false), rank);
          EXPECT_EQ(division->part(rank).end[d], division->part(above).begin[d]);
        }
    }
    EXPECT_EQ(elements, 45 * 22 * 14);
  }
  const std::int64_t square[] = {100, 100};
  EXPECT_EQ(divided(square, 4, 2)->grid(), (std::array{2, 2, 1}));
  EXPECT_EQ(divided(square, 2, 2)->grid(), (std::array{1, 2, 1})) << "rows stay whole";
}

TEST(Divisions, AreRefusedWhereAPartWouldBeTooSmall) {
  const std::int64_t cells[] = {6, 5};
  EXPECT_TRUE(divided(cells, 6, 2));
  const auto refused = divided(cells, 8, 2);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error(), HasSubstr("6 x 5 cells cannot be divided among 8 ranks"));
  EXPECT_TRUE(divided(std::vector<std::int64_t>{1}, 1, 2)) << "alone nobody exchanges anything";
}

TEST(RandomMeshLoops, HaveTheSameContentOnAnyNumberOfRanksAndThreads) {
  std::set<int> numbers;
  const auto seeds = test_support::many_seeds(0, 60, 12);
  for (std::uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const RandomLoops program(seed);
    std::mutex mutex;
    Content alone;
    program.run(one_rank(), {}, alone, mutex);
    for (const int ranks : {2, 3, 4, 6, 8}) {
      if (!program.fits(ranks)) continue;
      numbers.insert(ranks);
      Content content;
      on_ranks(ranks, [&](std::unique_ptr<Ranks> one) { program.run(std::move(one), {}, content, mutex); });
      ASSERT_EQ(content, alone) << "seed " << seed << ", " << ranks << " ranks";
    }
    Content checked;
    program.run(one_rank(), {1, false, true}, checked, mutex);
    ASSERT_EQ(checked, alone) << "seed " << seed << ", checked";
  }
  if (seeds.usual) {
    EXPECT_EQ(numbers.size(), 5U);
  }
}

#if defined(_OPENMP)
constexpr int kThreads = 3;
#else
constexpr int kThreads = 1;
#endif

TEST(MeshThreads, DoWhatOneDoes) {
  const auto seeds = test_support::many_seeds(0, 10, 10);
  for (std::uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const RandomLoops program(seed);
    std::mutex mutex;
    Content alone, content;
    program.run(one_rank(), {}, alone, mutex);
    program.run(one_rank(), {kThreads, false, false}, content, mutex);
    ASSERT_EQ(content, alone) << "seed " << seed;
  }
}

// The summands nearly cancel, so that each order of additions gives other bits.
std::array<double, 3> reduced(std::unique_ptr<Ranks> ranks, Options options) {
  Mesh mesh(std::move(ranks), options);
  const Block& block = mesh.block("block", {31, 17});
  auto& values = mesh.data(block, "values");
  mesh.par_loop(
      "fill", block, box({{0, 31}, {0, 17}}),
      [](auto& value, const Index& at) { value(0) = std::sin(static_cast<double>(at[0] * 40 + at[1])) * 1e10; },
      write(values), index());
  auto sum = mesh.sum(), least = mesh.least(), most = mesh.most();
  mesh.par_loop(
      "reduce", block, box({{0, 31}, {0, 17}}),
      [](const auto& value, double& all, double& low, double& high) {
        all += value(0);
        low = std::min(low, value(0));
        high = std::max(high, value(0));
      },
      read(values), into(sum), into(least), into(most));
  return {mesh.collect(sum), mesh.collect(least), mesh.collect(most)};
}

TEST(MeshReductions, OfReproducibleMeshesHaveTheSameBitsEverywhere) {
  const auto alone = reduced(one_rank(), {1, true, false});
  EXPECT_EQ(reduced(one_rank(), {kThreads, true, false}), alone);
  EXPECT_EQ(reduced(one_rank(), {1, true, true}), alone) << "checked";
  for (const int ranks : {2, 3, 5, 7}) {
    std::mutex mutex;
    on_ranks(ranks, [&](std::unique_ptr<Ranks> one) {
      const auto here = reduced(std::move(one), {1, true, false});
      std::lock_guard guard(mutex);
      EXPECT_EQ(here, alone) << ranks << " ranks";
    });
  }
}

TEST(MeshReductions, OfOthersAreAsExactAsAnyOrder) {
  const auto exact = reduced(one_rank(), {1, true, false});
  const auto plain = reduced(one_rank(), {});
  EXPECT_NEAR(plain[0], exact[0], 1e-3);
  EXPECT_EQ(plain[1], exact[1]);
  EXPECT_EQ(plain[2], exact[2]);
  on_ranks(3, [&](std::unique_ptr<Ranks> one) {
    const auto here = reduced(std::move(one), {});
    EXPECT_NEAR(here[0], exact[0], 1e-3);
    EXPECT_EQ(here[1], exact[1]);
  });
}

class CheckedLoops : public testing::Test {
 protected:
  template <class Kernel, class... Arguments>
  std::string complaint(const Kernel& kernel, const Arguments&... arguments) {
    try {
      mesh_.par_loop("tested", block_, box({{0, 8}, {0, 6}}), kernel, arguments...);
    } catch (const std::runtime_error& refused) {
      return refused.what();
    }
    return "";
  }
  Mesh mesh_{one_rank(), {1, false, true}};
  const Block& block_ = mesh_.block("block", {8, 6});
  Data<double>& a_ = mesh_.data(block_, "a");
  Data<double>& b_ = mesh_.data(block_, "b");
};

TEST_F(CheckedLoops, ThatKeepToWhatTheySayRun) {
  EXPECT_EQ(complaint([](auto& a) { a(0, 0) = 3; }, write(a_)), "");
  EXPECT_EQ(complaint([](auto& b, const auto& a) { b(0, 0) = a(0, 0) + a(1, 0); }, write(b_),
                      read(a_, Stencil::from_to({0}, {1}))),
            "");
  EXPECT_EQ(complaint(
                [](auto& b) {
                  if (b(0, 0) > 100) b(0, 0) = 1;
                },
                read_write(b_)),
            "");
  EXPECT_EQ(*b_.at({3, 3}), 6);
  auto sum = mesh_.sum();
  EXPECT_EQ(complaint([](const auto& b, double& all) { all += b(0, 0); }, read(b_), into(sum)), "");
  EXPECT_EQ(mesh_.collect(sum), 7 * 6 * 6 + 3 * 6) << "each element counts once";
}

TEST_F(CheckedLoops, ThatReadOutsideTheirStencilAreNamed) {
  const auto said =
      complaint([](auto& b, const auto& a) { b(0, 0) = a(0, 1); }, write(b_), read(a_, Stencil::from_to({0}, {1})));
  EXPECT_THAT(said, HasSubstr("loop 'tested'"));
  EXPECT_THAT(said, HasSubstr("data set 'a'"));
  EXPECT_THAT(said, HasSubstr("offset [0, 1], which is not in its stencil"));
}

TEST_F(CheckedLoops, ThatWriteBesideTheirIndexAreNamed) {
  EXPECT_THAT(complaint([](auto& a) { a(1, 0) = 3; }, write(a_)), HasSubstr("offset [1, 0]"));
}

TEST_F(CheckedLoops, ThatReadWhatTheySayTheyOnlyWriteAreNamed) {
  EXPECT_THAT(complaint([](auto& a) { a(0, 0) = a(0, 0) + 1; }, write(a_)),
              HasSubstr("data set 'a': element [0, 0] depends on what was there before"));
}

TEST_F(CheckedLoops, ThatLeaveElementsOutAreNamed) {
  EXPECT_THAT(complaint(
                  [](auto& a, const Index& at) {
                    if (at[0] != 5 || at[1] != 2) a(0, 0) = 1;
                  },
                  write(a_), index()),
              HasSubstr("element [5, 2] is not written"));
}

TEST_F(CheckedLoops, ThatWriteWhatTheyOnlyReadAreNamed) {
  EXPECT_THAT(complaint(
                  [this](auto& b, const auto& a) {
                    b(0, 0) = a(0, 0);
                    *a_.at({2, 2}) += 1;
                  },
                  write(b_), read(a_)),
              HasSubstr("data set 'a': element [2, 2] is written, and it is only read"));
  EXPECT_THAT(complaint(
                  [this](auto& b) {
                    b(0, 0) = 1;
                    *b_.at({-1, 2}) += 1;
                  },
                  write(b_)),
              HasSubstr("data set 'b': element [-1, 2] is written, and the loop's range is [0:8, 0:6]"));
}

TEST(MeshRefusals, NameLoopAndDataSet) {
  const auto complaint = [](const auto& doing) -> std::string {
    try {
      doing();
    } catch (const std::runtime_error& refused) {
      return refused.what();
    }
    return "";
  };
  Mesh mesh;
  const Block& block = mesh.block("block", {8});
  const Block& other = mesh.block("other", {8});
  auto& a = mesh.data(block, "a");
  const auto nothing = [](const auto&) {};
  EXPECT_THAT(complaint([&] { mesh.data(block, "a b"); }), HasSubstr("a name has 1 to 56"));
  EXPECT_THAT(complaint([&] {
                mesh.data(block, "b", {{}, 2, false, std::string(65, 'm'), ""});
              }),
              HasSubstr("its unit"));
  EXPECT_THAT(complaint([&] { mesh.data(block, "a"); }), HasSubstr("data set 'a': there is one of that name"));
  EXPECT_THAT(complaint([&] {
                mesh.par_loop("l", block, box({{0, 11}}), nothing, read(a));
              }),
              HasSubstr("loop 'l': it reads [0:11] of data set 'a', which is [-2:10]"));
  EXPECT_THAT(complaint([&] {
                mesh.par_loop("l", block, box({{0, 9}}), nothing, read(a, Stencil::star(1, 2)));
              }),
              HasSubstr("reads [-2:11] of data set 'a'"));
  EXPECT_THAT(complaint([&] {
                mesh.par_loop("l", other, box({{0, 8}}), nothing, read(a));
              }),
              HasSubstr("on another block"));
  EXPECT_THAT(complaint([&] {
                mesh.par_loop("l", block, box({{0, 8}, {0, 1}}), nothing, read(a));
              }),
              HasSubstr("other dimensions"));
  EXPECT_THAT(complaint([&] { Mesh none(one_rank(), {0, false, false}); }), HasSubstr("threads"));
  // The loop's result would depend on the order of indices.
  const auto both = [](const auto&, const auto&) {};
  const auto order = HasSubstr("loop 'l': it reads elements of data set 'a' that it writes at another index");
  for (const std::int64_t offset : {-2, -1, 1, 2}) {
    const Stencil from = Stencil::from_to({offset}, {offset});
    EXPECT_THAT(complaint([&] { mesh.par_loop("l", block, box({{0, 8}}), nothing, read_write(a, from)); }), order);
    EXPECT_THAT(complaint([&] { mesh.par_loop("l", block, box({{0, 8}}), both, write(a), read(a, from)); }), order);
  }
  EXPECT_THAT(complaint([&] {
                mesh.par_loop("l", block, box({{0, 8}}), nothing, read_write(a, Stencil::star(1)));
              }),
              order);
  // A boundary loop may read elements inside of the boundary, and a loop may read its own element.
  EXPECT_EQ(complaint([&] {
              mesh.par_loop("edge", block, box({{-1, 0}}), nothing, read_write(a, Stencil::from_to({1}, {2})));
            }),
            "");
  EXPECT_EQ(complaint([&] { mesh.par_loop("self", block, box({{0, 8}}), nothing, read_write(a)); }), "");
  on_ranks(2, [&](std::unique_ptr<Ranks> ranks) {
    Mesh two(std::move(ranks));
    const Block& wide = two.block("block", {20});
    auto& set = two.data(wide, "set");
    EXPECT_THAT(complaint([&] {
                  two.par_loop("far", wide, box({{0, 9}}), nothing, read(set, Stencil::from_to({0}, {5})));
                }),
                HasSubstr("loop 'far': it reads farther than the ghosts of data set 'set' reach"));
    EXPECT_THAT(complaint([&] {
                  two.data(wide, "wider", {{}, 11, false, "", ""});
                }),
                HasSubstr("wider than some rank's part"));
  });
}

TEST(MeshGhosts, AreExchangedOnlyWhenNeededAndForAllDataSetsTogether) {
  on_ranks(2, [](std::unique_ptr<Ranks> ranks) {
    Mesh mesh(std::move(ranks));
    const Block& block = mesh.block("block", {16, 16});
    auto &a = mesh.data(block, "a"), &b = mesh.data(block, "b"), &c = mesh.data(block, "c");
    const Box all = box({{0, 16}, {0, 16}});
    const Stencil star = Stencil::star(2);
    const auto set = [](auto& x) { x(0, 0) = 1; };
    const auto use = [](const auto&, const auto&, auto& z) { z(0, 0) = 1; };
    mesh.par_loop("a", block, all, set, write(a));
    mesh.par_loop("b", block, all, set, write(b));
    EXPECT_EQ(mesh.ghosts().exchanges(), 0U);
    mesh.par_loop("use", block, all, use, read(a), read(b), write(c));
    EXPECT_EQ(mesh.ghosts().exchanges(), 0U) << "only elements themselves";
    mesh.par_loop("use", block, all, use, read(a, star), read(b, star), write(c));
    EXPECT_EQ(mesh.ghosts().exchanges(), 1U) << "one message for both";
    EXPECT_EQ(mesh.ghosts().bytes_sent(), 2U * 2 * 20 * 8) << "two rows of each, as they are cut across y";
    mesh.par_loop("use", block, all, use, read(a, star), read(b, star), write(c));
    EXPECT_EQ(mesh.ghosts().exchanges(), 1U);
    mesh.par_loop("edge", block, box({{0, 16}, {-1, 6}}), set, write(a));
    mesh.par_loop("use", block, all, use, read(a, star), read(b, star), write(c));
    EXPECT_EQ(mesh.ghosts().exchanges(), 1U) << "rows 6 to 9 are ghosts";
    mesh.par_loop("edge", block, box({{0, 16}, {-1, 7}}), set, write(a));
    mesh.par_loop("inner", block, box({{0, 16}, {9, 15}}), use, read(a, star), read(b, star), write(c));
    EXPECT_EQ(mesh.ghosts().exchanges(), 1U) << "rows 8 to 15 are one rank's";
    mesh.par_loop("use", block, all, use, read(a, star), read(b, star), write(c));
    EXPECT_EQ(mesh.ghosts().exchanges(), 2U);
  });
}

}  // namespace
}  // namespace perdure::mesh
