// Tests which ghosts a loop reads and which go stale, and that exchanges carry only ghosts that are both.
#include "mesh/ghosts.hpp"

#include <gmock/gmock.h>

#include <random>
#include <set>

#include "mesh/divided.hpp"
#include "mesh/mesh.hpp"
#include "mesh/random_loops_testing.hpp"
#include "mesh/thread_ranks_testing.hpp"
#include "support/seeds.hpp"

namespace perdure::mesh {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<Direction> directions(const Neighbours& neighbours) {
  std::vector<Direction> all;
  for (std::size_t number = 0; number < Neighbours::kDirections; ++number)
    if (neighbours.has(number)) all.push_back(Neighbours::direction(number));
  return all;
}

/// A data set of 16 x 16 cells on 2 x 2 ranks, seen by one rank.
class GhostsOfFour : public testing::Test {
 protected:
  static constexpr std::int64_t kCells[] = {16, 16};
  std::vector<Direction> read(const Stencil& stencil, const Box& range) {
    const auto need = need_of({&set_, track::Access::Mode::read, &stencil}, range);
    EXPECT_TRUE(need);
    return directions(need.value_or(Neighbours()));
  }
  std::vector<Direction> stale_after(const Box& written) {
    set_.stale = {};
    set_.ghosts_are_stale(written);
    return directions(set_.stale);
  }
  const Division division_ = divided(kCells, 4, 2).value();
  const Block block_{"block", {16, 16}, division_, division_.part(0)};
  Dataset set_{block_, "set", 8, "double", {}, 0};
  const Box all_ = box({{0, 16}, {0, 16}});
};

constexpr Direction kLeft{-1, 0, 0}, kRight{1, 0, 0}, kDown{0, -1, 0}, kUp{0, 1, 0}, kUpRight{1, 1, 0},
    kUpLeft{-1, 1, 0}, kDownRight{1, -1, 0}, kDownLeft{-1, -1, 0};

TEST_F(GhostsOfFour, AreNeededWhereTheStencilReaches) {
  EXPECT_THAT(read(Stencil(), all_), IsEmpty());
  EXPECT_THAT(read(Stencil::from_to({-1}, {1}), all_), UnorderedElementsAre(kLeft, kRight));
  EXPECT_THAT(read(Stencil::from_to({0, -2}, {0, 0}), all_), UnorderedElementsAre(kDown));
  EXPECT_THAT(read(Stencil::star(2, 2), all_), UnorderedElementsAre(kLeft, kRight, kDown, kUp)) << "no corners";
  EXPECT_THAT(read(Stencil::from_to({1, 0}, {1, 0}) + Stencil::from_to({0, 1}, {0, 1}), all_),
              UnorderedElementsAre(kRight, kUp));
  EXPECT_THAT(read(Stencil::from_to({0, 0}, {1, 1}), all_), UnorderedElementsAre(kRight, kUp, kUpRight));
  EXPECT_THAT(read(Stencil::from_to({-1, -1}, {1, 1}), all_),
              UnorderedElementsAre(kLeft, kRight, kDown, kUp, kUpRight, kUpLeft, kDownRight, kDownLeft));
  const Stencil star = Stencil::star(2);
  EXPECT_THAT(directions(need_of({&set_, track::Access::Mode::write, &star}, all_).value()), IsEmpty());
}

TEST_F(GhostsOfFour, AreNeededWhereTheRangeComesNearThem) {
  const Stencil star = Stencil::star(2), corner = Stencil::from_to({1, 1}, {1, 1});
  EXPECT_THAT(read(star, box({{0, 7}, {9, 16}})), IsEmpty());
  EXPECT_THAT(read(star, box({{0, 8}, {9, 16}})), UnorderedElementsAre(kRight));
  EXPECT_THAT(read(star, box({{-1, 17}, {8, 9}})), UnorderedElementsAre(kLeft, kRight, kDown));
  EXPECT_THAT(read(star, box({{3, 3}, {0, 16}})), IsEmpty()) << "an empty range";
  EXPECT_THAT(read(corner, box({{0, 7}, {0, 16}})), UnorderedElementsAre(kUp));
  EXPECT_THAT(read(corner, box({{7, 8}, {0, 16}})), UnorderedElementsAre(kRight, kUpRight));
  EXPECT_THAT(read(corner, box({{7, 8}, {7, 8}})), UnorderedElementsAre(kUpRight)) << "that element alone";
}

TEST_F(GhostsOfFour, DoNotHoldMoreThanTheHalo) {
  const auto too_much = [&](const Stencil& stencil, const Box& range) {
    return !need_of({&set_, track::Access::Mode::read, &stencil}, range);
  };
  EXPECT_FALSE(too_much(Stencil::from_to({0, -2}, {2, 0}), all_));
  EXPECT_TRUE(too_much(Stencil::from_to({0, 0}, {3, 0}), all_));
  EXPECT_TRUE(too_much(Stencil::from_to({0, -3}, {0, -3}), box({{0, 16}, {8, 16}})));
  EXPECT_FALSE(too_much(Stencil::from_to({0, -3}, {0, -3}), box({{0, 16}, {9, 16}})));
  EXPECT_TRUE(too_much(Stencil::star(2) + Stencil::from_to({-3, 0}, {0, 0}), all_));
}

TEST_F(GhostsOfFour, GoStaleWhereTheirOwnersWrite) {
  EXPECT_THAT(directions(set_.stale), IsEmpty()) << "all is cleared";
  EXPECT_EQ(stale_after(all_).size(), 8U);
  EXPECT_THAT(stale_after(box({{-2, 6}, {10, 18}})), IsEmpty());
  EXPECT_THAT(stale_after(box({{-2, -1}, {-2, 18}})), UnorderedElementsAre(kDown, kUp)) << "the edge of the block";
  EXPECT_THAT(stale_after(box({{-2, 7}, {0, 6}})), UnorderedElementsAre(kLeft)) << "of those on the right";
  EXPECT_THAT(stale_after(box({{9, 10}, {9, 10}})), UnorderedElementsAre(kRight, kUp, kUpRight));
  set_.ghosts_are_stale(box({{0, 1}, {7, 8}}));
  EXPECT_EQ(directions(set_.stale).size(), 4U) << "what was stale stays so";
}

template <class Take>
void each_element(const Box& box, const Take& take) {
  if (box.empty()) return;
  Index at{};
  const auto begin = [&](unsigned d) { return d < box.dimensions ? box.begin[d] : 0; };
  const auto end = [&](unsigned d) { return d < box.dimensions ? box.end[d] : 1; };
  for (at[2] = begin(2); at[2] < end(2); ++at[2])
    for (at[1] = begin(1); at[1] < end(1); ++at[1])
      for (at[0] = begin(0); at[0] < end(0); ++at[0]) take(at);
}

/// Draws shapes, stencils and ranges on a block.
class RandomMesh {
 public:
  static constexpr std::int64_t kWidest = 3;
  explicit RandomMesh(std::uint64_t seed) : random_(seed) {
    const auto dimensions = 1 + below(3);
    for (std::int64_t d = 0; d < dimensions; ++d) cells_.push_back(6 + below(dimensions == 1 ? 30 : 12 / dimensions));
    std::vector<int> possible;
    for (const int ranks : {2, 3, 4, 6, 8, 9})
      if (divided(cells_, ranks, kWidest)) possible.push_back(ranks);
    ranks_ = possible.at(static_cast<std::size_t>(below(static_cast<std::int64_t>(possible.size()))));
  }
  const std::vector<std::int64_t>& cells() const { return cells_; }
  unsigned dimensions() const { return static_cast<unsigned>(cells_.size()); }
  int ranks() const { return ranks_; }
  std::int64_t below(std::int64_t end) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(end));
  }
  Shape shape() {
    Shape made;
    for (unsigned d = 0; d < dimensions(); ++d) made.more[d] = below(2);
    made.halo = below(kWidest + 1);
    return made;
  }
  Box whole(const Shape& shape) const {
    Box box{dimensions(), {}, {}};
    for (unsigned d = 0; d < box.dimensions; ++d) {
      box.begin[d] = -shape.halo;
      box.end[d] = cells_[d] + shape.more[d] + shape.halo;
    }
    return box;
  }
  /// Joins up to three boxes, each often of few dimensions; the element itself may be missing.
  Stencil stencil(std::int64_t halo) {
    Stencil made = corners(halo);
    for (auto more = below(3); more > 0; --more) made = made + corners(halo);
    return made;
  }
  /// Returns a random sub-box, or the whole box.
  Box part(Box box) {
    for (unsigned d = 0; d < box.dimensions; ++d) {
      const std::int64_t length = box.end[d] - box.begin[d];
      if (length < 2 || below(3) == 0) continue;
      box.begin[d] += below(length);
      box.end[d] = box.begin[d] + 1 + below(std::min<std::int64_t>(box.end[d] - box.begin[d], 1 + below(length)));
    }
    return box;
  }

 private:
  Stencil corners(std::int64_t halo) {
    Index first{}, last{};
    for (unsigned d = 0; d < dimensions(); ++d) {
      if (below(2) == 0) continue;
      first[d] = below(2 * halo + 1) - halo;
      last[d] = std::min(first[d] + below(3), halo);
    }
    return Stencil::from_to(first, last);
  }

  std::mt19937_64 random_;
  std::vector<std::int64_t> cells_;
  int ranks_ = 0;
};

std::vector<Index> points(const Stencil& stencil) {
  std::vector<Index> all;
  each_element(box({{-3, 4}, {-3, 4}, {-3, 4}}), [&](const Index& at) {
    if (stencil.contains(at[0], at[1], at[2])) all.push_back(at);
  });
  return all;
}

/// Returns the direction of an element relative to a part.
std::size_t direction_of(const Index& at, const Box& part) {
  std::size_t number = 0;
  for (unsigned d = kMostBlockDimensions; d-- > 0;) {
    const bool inside = d >= part.dimensions || (at[d] >= part.begin[d] && at[d] < part.end[d]);
    number = number * 3 + (inside ? 1 : at[d] < part.begin[d] ? 0 : 2);
  }
  return number;
}

Neighbours only(std::size_t direction) {
  const Direction steps = Neighbours::direction(direction);
  Neighbours::Extents extents;
  for (unsigned d = 0; d < kMostBlockDimensions; ++d) extents[d] = {steps[d]<0, steps[d] == 0, steps[d]> 0};
  return Neighbours(extents);
}

TEST(RandomGhosts, AreNeededAndStaleExactlyWhereSomeRankReadsAndAnotherWrites) {
  const auto seeds = test_support::many_seeds(0, 500, 500);
  for (std::uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    RandomMesh mesh(seed);
    const Division division = divided(mesh.cells(), mesh.ranks(), RandomMesh::kWidest).value();
    const Block block{"block", mesh.cells(), division, division.part(0)};
    const Shape shape = mesh.shape();
    Dataset set(block, "set", 1, "int8", shape, 0);
    const Stencil stencil = mesh.stencil(shape.halo);
    const Box range = mesh.part(mesh.whole(shape));
    set.ghosts_are_stale(range);
    Neighbours read, stale;
    for (int rank = 0; rank < mesh.ranks(); ++rank) {
      const Box part = division.part(rank);
      for (const Index& offset : points(stencil))
        each_element(intersection(range, part), [&](Index at) {
          for (unsigned d = 0; d < range.dimensions; ++d) at[d] += offset[d];
          read = read | only(direction_of(at, part));
        });
      const Block of_rank{"block", mesh.cells(), division, part};
      const Dataset there(of_rank, "set", 1, "int8", shape, rank);
      each_element(intersection(range, there.local()),
                   [&](const Index& at) { stale = stale | only(direction_of(at, part)); });
    }
    const auto need = need_of({&set, track::Access::Mode::read, &stencil}, range);
    ASSERT_TRUE(need) << "seed " << seed;
    ASSERT_EQ(directions(*need), directions(read)) << "seed " << seed;
    ASSERT_EQ(directions(set.stale), directions(stale)) << "seed " << seed;
  }
}

using Values = std::vector<std::int64_t>;

/// Runs loops and transfers in random order, whose values depend on all elements that they read.
class RandomReads {
 public:
  explicit RandomReads(std::uint64_t seed) : mesh_(seed) {
    for (int i = 0; i < 3; ++i) shapes_.push_back(mesh_.shape());
    for (int i = 0; i < 14; ++i) steps_.push_back(any());
  }
  int ranks() const { return mesh_.ranks(); }

  /// Calls `left(number, data set)` after each step.
  template <class Left>
  void run(std::unique_ptr<Ranks> ranks, const Left& left) const {
    Mesh mesh(std::move(ranks));
    const Block& block = mesh.block("block", mesh_.cells(), RandomMesh::kWidest);
    std::vector<Data<std::int64_t>*> sets;
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      sets.push_back(&mesh.data<std::int64_t>(block, "set" + std::to_string(i), shapes_[i]));
      mesh.par_loop(
          "fill", block, sets[i]->whole(),
          [=](auto& value, const Index& at) {
            value(0) = ((at[0] * 100 + at[1]) * 100 + at[2]) * 10 + static_cast<std::int64_t>(i);
          },
          write(*sets[i]), index());
    }
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      call(mesh, block, sets, steps_[i]);
      left(i, *sets[steps_[i].out]);
    }
  }
  /// Returns the position of an element in a copy of the whole data set.
  static std::size_t place(const Box& whole, const Index& at) {
    std::int64_t place = 0;
    for (unsigned d = whole.dimensions; d-- > 0;)
      place = place * (whole.end[d] - whole.begin[d]) + at[d] - whole.begin[d];
    return static_cast<std::size_t>(place);
  }

 private:
  struct Step {
    bool copies = false, forgets = false, also_reads = false;
    Box range;
    std::size_t out = 0, in = 0, other = 0;
    Stencil stencil, other_stencil;
    std::vector<Index> points, other_points;
    Index offset{};
  };

  static void call(Mesh& mesh, const Block& block, const std::vector<Data<std::int64_t>*>& sets, const Step& step) {
    auto &out = *sets[step.out], &in = *sets[step.in], &other = *sets[step.other];
    if (step.forgets) in.ghosts_are_stale();
    if (step.copies) return mesh.transfer("copy", out, step.range, in, step.offset);
    const auto kernel = [&](auto& to, const auto& a, const auto& b) {
      std::int64_t value = step.also_reads ? to(0) : 17;
      for (const Index& offset : step.points) value = mixed_values(value, a(offset[0], offset[1], offset[2]));
      for (const Index& offset : step.other_points) value = mixed_values(value, b(offset[0], offset[1], offset[2]));
      to(0) = value;
    };
    const auto a = read(in, step.stencil), b = read(other, step.other_stencil);
    if (step.also_reads)
      mesh.par_loop("reads and writes", block, step.range, kernel, read_write(out), a, b);
    else
      mesh.par_loop("writes", block, step.range, kernel, write(out), a, b);
  }

  void keep_within(Box& range, std::size_t set, const Stencil& stencil) const {
    const Box all = mesh_.whole(shapes_[set]);
    for (unsigned d = 0; d < range.dimensions; ++d) {
      range.begin[d] = std::max(range.begin[d], all.begin[d] - stencil.below(d));
      range.end[d] = std::min(range.end[d], all.end[d] - stencil.above(d));
    }
  }
  Step any() {
    Step step;
    step.out = static_cast<std::size_t>(mesh_.below(3));
    step.in = (step.out + 1 + static_cast<std::size_t>(mesh_.below(2))) % 3;
    step.other = (step.out + 1 + static_cast<std::size_t>(mesh_.below(2))) % 3;
    step.copies = mesh_.below(6) == 0;
    step.forgets = mesh_.below(8) == 0;
    step.also_reads = mesh_.below(2) == 0;
    step.stencil = mesh_.stencil(shapes_[step.in].halo);
    step.other_stencil = mesh_.stencil(shapes_[step.other].halo);
    step.range = mesh_.whole(shapes_[step.out]);
    if (step.copies) {
      for (unsigned d = 0; d < mesh_.dimensions(); ++d) step.offset[d] = mesh_.below(5) - 2;
      step.stencil = Stencil::from_to(step.offset, step.offset);
    }
    keep_within(step.range, step.in, step.stencil);
    if (!step.copies) keep_within(step.range, step.other, step.other_stencil);
    step.range = mesh_.part(step.range);
    step.points = points(step.stencil);
    step.other_points = points(step.other_stencil);
    return step;
  }

  RandomMesh mesh_;
  std::vector<Shape> shapes_;
  std::vector<Step> steps_;
};

TEST(RandomGhosts, GiveEachLoopWhatOneRankHas) {
  std::set<int> numbers;
  const auto seeds = test_support::many_seeds(0, 200, 200);
  for (std::uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const RandomReads program(seed);
    numbers.insert(program.ranks());
    std::vector<Values> alone;
    program.run(one_rank(), [&](std::size_t, const Data<std::int64_t>& set) {
      Values& values = alone.emplace_back();
      each_element(set.whole(), [&](const Index& at) { values.push_back(*set.at(at)); });
    });
    const auto compare = [&](std::size_t step, const Data<std::int64_t>& set) {
      std::size_t wrong = 0;
      each_element(set.owned(), [&](const Index& at) {
        wrong += *set.at(at) != alone[step][RandomReads::place(set.whole(), at)] ? 1U : 0U;
      });
      EXPECT_EQ(wrong, 0U) << "seed " << seed << ", step " << step << ", " << set.name();
    };
    on_ranks(program.ranks(), [&](std::unique_ptr<Ranks> ranks) { program.run(std::move(ranks), compare); });
    ASSERT_FALSE(HasFailure());
  }
  if (seeds.usual) {
    EXPECT_EQ(numbers.size(), 6U);
  }
}

/// Each of 2 x 2 ranks has one neighbour in each dimension, and one at a corner.
class CountedGhosts : public testing::Test {
 protected:
  using Count = std::array<std::uint64_t, 3>;  // exchanges, messages, bytes
  struct Four {
    explicit Four(std::unique_ptr<Ranks> ranks) : mesh(std::move(ranks)) {}
    void write(Data<double>& set, const Box& range) {
      mesh.par_loop(
          "write", block, range, [](auto& value) { value(0) = 1; }, mesh::write(set));
    }
    /// Returns the number of exchanges, messages and bytes that the read took.
    template <class... Read>
    Count read(const Box& range, const Read&... reads) {
      const GhostExchange& ghosts = mesh.ghosts();
      const Count before{ghosts.exchanges(), ghosts.messages_sent(), ghosts.bytes_sent()};
      mesh.par_loop(
          "read", block, range, [](const auto&...) {}, reads...);
      return {ghosts.exchanges() - before[0], ghosts.messages_sent() - before[1], ghosts.bytes_sent() - before[2]};
    }
    Mesh mesh;
    const Block& block = mesh.block("block", {16, 16});
    Data<double>&a = mesh.data(block, "a"), &b = mesh.data(block, "b");
    const Box all = box({{0, 16}, {0, 16}});
  };
  static void on_four(const std::function<void(Four&)>& body) {
    on_ranks(4, [&](std::unique_ptr<Ranks> ranks) {
      Four four(std::move(ranks));
      ASSERT_EQ(four.block.division.grid(), (std::array{2, 2, 1}));
      body(four);
    });
  }
  static constexpr std::uint64_t kSide = 2 * 10 * 8, kCorner = 2 * 2 * 8;  // two layers of the part with its halo
};

TEST_F(CountedGhosts, ComeInOneExchangeFromThoseWhoseElementsAreRead) {
  on_four([](Four& four) {
    const Stencil along_x = Stencil::from_to({-1}, {1}), star = Stencil::star(2),
                  square = Stencil::from_to({-1, -1}, {1, 1});
    four.write(four.a, four.all);
    EXPECT_EQ(four.read(four.all, read(four.a)), (Count{0, 0, 0}));
    EXPECT_EQ(four.read(four.all, read(four.a, along_x)), (Count{1, 1, kSide})) << "only across x";
    EXPECT_EQ(four.read(four.all, read(four.a, along_x)), (Count{0, 0, 0}));
    EXPECT_EQ(four.read(four.all, read(four.a, star)), (Count{1, 1, kSide})) << "what was lacking: across y";
    EXPECT_EQ(four.read(four.all, read(four.a, square)), (Count{1, 1, kCorner}));
    four.write(four.a, four.all);
    EXPECT_EQ(four.read(four.all, read(four.a, star)), (Count{1, 2, 2 * kSide})) << "both at once, without corners";
    four.write(four.a, four.all);
    EXPECT_EQ(four.read(four.all, read(four.a, square)), (Count{1, 3, 2 * kSide + kCorner}));
    EXPECT_EQ(four.read(four.all, read(four.a, star)), (Count{0, 0, 0}));
  });
}

TEST_F(CountedGhosts, OfSeveralDataSetsShareMessages) {
  on_four([](Four& four) {
    const Stencil along_x = Stencil::from_to({-1}, {1}), star = Stencil::star(2);
    four.write(four.a, four.all);
    four.write(four.b, four.all);
    EXPECT_EQ(four.read(four.all, read(four.a, along_x), read(four.b, star)), (Count{1, 2, 3 * kSide}));
    four.write(four.a, four.all);
    const Stencil along_y = Stencil::from_to({0, -1}, {0, 1});
    EXPECT_EQ(four.read(four.all, read(four.a, along_x), read(four.a, along_y)), (Count{1, 2, 2 * kSide}))
        << "of one that is read twice, too";
  });
}

TEST_F(CountedGhosts, GoOneWayWhereOnlyOneSideIsRead) {
  on_four([](Four& four) {
    const auto [x, y, z] = four.block.division.position(four.mesh.ranks().rank());
    const auto sends = static_cast<std::uint64_t>(x + y + x * y), corners = static_cast<std::uint64_t>(x * y);
    four.write(four.a, four.all);
    EXPECT_EQ(four.read(four.all, read(four.a, Stencil::from_to({0, 0}, {1, 1}))),
              (Count{1, sends, (sends - corners) * kSide + corners * kCorner}));
    EXPECT_EQ(four.read(four.all, read(four.a, Stencil::from_to({1, 0}, {1, 1}))), (Count{0, 0, 0}));
  });
}

TEST_F(CountedGhosts, StayGoodWhereNobodyWritesThem) {
  on_four([](Four& four) {
    const Stencil square = Stencil::from_to({-1, -1}, {1, 1});
    four.write(four.a, four.all);
    (void)four.read(four.all, read(four.a, square));
    four.write(four.a, box({{-2, 0}, {-2, 18}}));
    EXPECT_EQ(four.read(four.all, read(four.a, square)), (Count{1, 1, kSide})) << "the edge: only across y";
    four.write(four.a, box({{0, 4}, {11, 16}}));
    EXPECT_EQ(four.read(four.all, read(four.a, square)), (Count{0, 0, 0}));
    four.a.ghosts_are_stale();
    EXPECT_EQ(four.read(box({{0, 5}, {0, 16}}), read(four.a, square)), (Count{1, 1, kSide}));
  });
}

}  // namespace
}  // namespace perdure::mesh
