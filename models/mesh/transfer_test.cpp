// Tests that transfers on any number of ranks equal plain copies, that a follower sees them as loops, and refusals.
#include "mesh/transfer.hpp"

#include <gmock/gmock.h>

#include <map>
#include <mutex>
#include <random>
#include <set>

#include "mesh/divided.hpp"
#include "mesh/mesh.hpp"
#include "mesh/thread_ranks_testing.hpp"
#include "support/seeds.hpp"

namespace perdure::mesh {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::int64_t number_of(const Index& at, std::size_t set) {
  return ((at[0] + 50) * 1000 + at[1] + 50) * 1000 + at[2] + 50 + static_cast<std::int64_t>(set) * 1'000'000'000;
}

template <class Take>
void each_index_of(const Box& box, const Take& take) {
  Index at{};
  const auto end = [&](unsigned d) { return d < box.dimensions ? box.end[d] : 1; };
  const auto begin = [&](unsigned d) { return d < box.dimensions ? box.begin[d] : 0; };
  for (at[2] = begin(2); at[2] < end(2); ++at[2])
    for (at[1] = begin(1); at[1] < end(1); ++at[1])
      for (at[0] = begin(0); at[0] < end(0); ++at[0]) take(at);
}

using Copied = std::vector<std::map<Index, std::int64_t>>;

/// Draws random transfers between random data sets of two blocks.
class RandomTransfers {
 public:
  explicit RandomTransfers(std::uint64_t seed) : random_(seed) {
    dimensions_ = 1 + below(3);
    for (auto& cells : cells_)
      for (std::int64_t d = 0; d < dimensions_; ++d) cells.push_back(9 + below(8));
    for (int i = 0; i < 4; ++i) {
      Shape& shape = shapes_.emplace_back();
      for (std::int64_t d = 0; d < dimensions_; ++d) shape.more[static_cast<std::size_t>(d)] = below(2);
      shape.halo = below(3);
    }
    while (calls_.size() < 6) {
      std::vector<Planned> call;
      for (std::int64_t i = 1 + below(3); i > 0; --i) call.push_back(any());
      if (!writes_twice(call)) calls_.push_back(call);
    }
  }
  bool fits(int ranks) const {
    return divided(cells_[0], ranks, 2).has_value() && divided(cells_[1], ranks, 2).has_value();
  }

  /// Returns the content that one copy after the other would give.
  Copied copied() const {
    Copied content(shapes_.size());
    for (std::size_t i = 0; i < shapes_.size(); ++i)
      each_index_of(whole(i), [&](const Index& at) { content[i][at] = number_of(at, i); });
    for (const auto& call : calls_) {
      const Copied before = content;
      for (const Planned& one : call)
        each_index_of(one.range, [&](const Index& at) {
          Index from = at;
          for (unsigned d = 0; d < one.range.dimensions; ++d) from[d] += one.offset[d];
          content[one.to][at] = before[one.from].at(from);
        });
    }
    return content;
  }

  void run(std::unique_ptr<Ranks> ranks, Copied& content, std::mutex& mutex) const {
    Mesh mesh(std::move(ranks));
    const Block* blocks[] = {&mesh.block("one", cells_[0]), &mesh.block("other", cells_[1])};
    std::vector<Data<std::int64_t>*> sets;
    for (std::size_t i = 0; i < shapes_.size(); ++i)
      sets.push_back(&mesh.data<std::int64_t>(*blocks[i % 2], "set" + std::to_string(i), shapes_[i]));
    for (std::size_t i = 0; i < sets.size(); ++i)
      mesh.par_loop(
          "fill", *blocks[i % 2], sets[i]->whole(), [i](auto& value, const Index& at) { value(0) = number_of(at, i); },
          write(*sets[i]), index());
    for (const auto& call : calls_) {
      std::vector<Transfer> transfers;
      for (const Planned& one : call) transfers.push_back({sets[one.to], one.range, sets[one.from], one.offset});
      mesh.transfer("transfer", transfers);
    }
    std::lock_guard guard(mutex);
    content.resize(sets.size());
    for (std::size_t i = 0; i < sets.size(); ++i)
      if (!sets[i]->owned().empty())
        each_index_of(sets[i]->owned(), [&](const Index& at) { content[i][at] = *sets[i]->at(at); });
  }

 private:
  struct Planned {
    std::size_t to, from;
    Box range;
    Index offset{};
  };

  std::int64_t below(std::int64_t end) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(end));
  }
  Box whole(std::size_t set) const {
    Box box;
    box.dimensions = static_cast<unsigned>(dimensions_);
    for (unsigned d = 0; d < box.dimensions; ++d) {
      box.begin[d] = -shapes_[set].halo;
      box.end[d] = cells_[set % 2][d] + shapes_[set].more[d] + shapes_[set].halo;
    }
    return box;
  }
  Planned any() {
    Planned one;
    one.to = static_cast<std::size_t>(below(4));
    one.from = static_cast<std::size_t>(below(4));
    const Box to = whole(one.to), from = whole(one.from);
    one.range = to;
    for (unsigned d = 0; d < to.dimensions; ++d) {
      const std::int64_t most = std::min(to.end[d] - to.begin[d], from.end[d] - from.begin[d]);
      const std::int64_t length = 1 + below(below(2) == 0 ? 3 : most);
      one.range.begin[d] += below(to.end[d] - to.begin[d] - length + 1);
      one.range.end[d] = one.range.begin[d] + length;
      const std::int64_t source = from.begin[d] + below(from.end[d] - from.begin[d] - length + 1);
      one.offset[d] = source - one.range.begin[d];
    }
    return one;
  }
  static bool writes_twice(const std::vector<Planned>& call) {
    for (const Planned& a : call)
      for (const Planned& b : call)
        if (&a != &b && a.to == b.to && !intersection(a.range, b.range).empty()) return true;
    return false;
  }

  std::mt19937_64 random_;
  std::int64_t dimensions_;
  std::array<std::vector<std::int64_t>, 2> cells_;
  std::vector<Shape> shapes_;
  std::vector<std::vector<Planned>> calls_;
};

TEST(Transfers, DoOnAnyNumberOfRanksWhatACopyDoes) {
  std::set<int> numbers;
  const auto seeds = test_support::many_seeds(0, 60, 12);
  for (std::uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const RandomTransfers program(seed);
    const Copied copied = program.copied();
    for (int ranks = 1; ranks <= 8; ++ranks) {
      if (!program.fits(ranks)) continue;
      numbers.insert(ranks);
      std::mutex mutex;
      Copied content;
      on_ranks(ranks, [&](std::unique_ptr<Ranks> one) { program.run(std::move(one), content, mutex); });
      ASSERT_EQ(content, copied) << "seed " << seed << ", " << ranks << " ranks";
    }
  }
  if (seeds.usual) {
    EXPECT_EQ(numbers.size(), 8U);
  }
}

/// Copies both sides of a dimension, including the ghosts that earlier dimensions filled.
void wrap(Mesh& mesh, Data<std::int64_t>& set, unsigned dimension) {
  Box low = set.whole(), high = set.whole();
  const std::int64_t cells = set.block().cells[dimension];
  for (unsigned d = dimension + 1; d < low.dimensions; ++d)
    low.begin[d] = high.begin[d] = 0, low.end[d] = high.end[d] = set.block().cells[d];
  low.end[dimension] = 0;
  high.begin[dimension] = cells;
  Index up{}, down{};
  up[dimension] = cells;
  down[dimension] = -cells;
  const Transfer both[] = {{&set, low, &set, up}, {&set, high, &set, down}};
  mesh.transfer("wrap", both);
}

TEST(Transfers, FillPeriodicHalosWithTheirCorners) {
  for (const int ranks : {1, 2, 3, 4, 6, 8})
    on_ranks(ranks, [&](std::unique_ptr<Ranks> one) {
      Mesh mesh(std::move(one));
      const Block& block = mesh.block("block", {8, 9, 10});
      auto& set = mesh.data<std::int64_t>(block, "set");
      mesh.par_loop(
          "fill", block, box({{0, 8}, {0, 9}, {0, 10}}),
          [](auto& value, const Index& at) { value(0, 0, 0) = number_of(at, 0); }, write(set), index());
      for (const unsigned d : {0U, 1U, 2U}) wrap(mesh, set, d);
      each_index_of(set.owned(), [&](const Index& at) {
        Index within{};
        for (unsigned d = 0; d < 3; ++d) within[d] = (at[d] + block.cells[d]) % block.cells[d];
        EXPECT_EQ(*set.at(at), number_of(within, 0)) << at[0] << " " << at[1] << " " << at[2];
      });
    });
}

TEST(Transfers, MakeGhostsStale) {
  on_ranks(4, [](std::unique_ptr<Ranks> ranks) {
    Mesh mesh(std::move(ranks));
    const Block& block = mesh.block("block", {16});
    auto &a = mesh.data<std::int64_t>(block, "a"), &b = mesh.data<std::int64_t>(block, "b");
    const Box all = box({{0, 16}}), inner = box({{1, 15}});
    mesh.par_loop(
        "fill", block, all, [](auto& value, const Index& at) { value(0) = at[0]; }, write(a), index());
    const auto neighbours = [](auto& out, const auto& in) { out(0) = in(-1) + in(1); };
    mesh.par_loop("sum", block, inner, neighbours, write(b), read(a, Stencil::star(1)));
    mesh.transfer("backwards", a, box({{0, 15}}), a, {1});  // each element reads an element that another one writes
    mesh.par_loop("sum", block, inner, neighbours, write(b), read(a, Stencil::star(1)));
    each_index_of(intersection(b.owned(), box({{1, 14}})),
                  [&](const Index& at) { EXPECT_EQ(*b.at(at), 2 * at[0] + 2) << at[0]; });
  });
}

TEST(Transfers, OfOneCallGoInOneMessageToEachPeer) {
  on_ranks(2, [](std::unique_ptr<Ranks> ranks) {
    TransferExchange exchange(*ranks);
    Mesh mesh(std::move(ranks));
    const Block& block = mesh.block("block", {16});
    auto &a = mesh.data(block, "a"), &b = mesh.data(block, "b");
    const Transfer wraps[] = {{&a, box({{-2, 0}}), &a, {16}},
                              {&b, box({{-2, 0}}), &b, {16}},
                              {&a, box({{16, 18}}), &a, {-16}},
                              {&b, box({{0, 4}}), &a, {1}}};
    exchange.run(wraps);
    EXPECT_EQ(exchange.messages_sent(), 1U);
    const Transfer near[] = {{&b, box({{0, 4}}), &a, {1}}};
    exchange.run(near);
    EXPECT_EQ(exchange.messages_sent(), 1U) << "nobody else has or wants any of it";
  });
}

struct NotedLoops : Follower {
  explicit NotedLoops(bool& runs, std::vector<std::string>& all) : runs_(runs), all_(all) {}
  bool loop(track::LoopId, std::string_view name, std::span<const track::Access> accesses, bool) override {
    all_.emplace_back(name);
    for (const auto& access : accesses)
      all_.push_back(std::to_string(access.set) +
                     (access.does_write() ? " writes " + access.written.text() : " reads " + access.read.text()));
    return runs_;
  }
  bool knows_answer() const override { return false; }
  void answer(std::span<std::byte>) override {}
  bool wants_checkpoint() override { return false; }
  void checkpoint_is_wanted() override {}

 private:
  bool& runs_;
  std::vector<std::string>& all_;
};

TEST(Transfers, AreLoopsForWhoFollows) {
  Mesh mesh;
  const Block& block = mesh.block("block", {8});
  auto &a = mesh.data(block, "a"), &b = mesh.data(block, "b");
  *a.at({7}) = 3;
  bool runs = false;
  std::vector<std::string> told;
  mesh.follow(std::make_unique<NotedLoops>(runs, told));
  mesh.transfer("wrap", b, box({{-2, 0}}), a, {8});
  EXPECT_THAT(told, ElementsAre("wrap", "0 reads [6:8]", "1 writes [-2:0]"));
  EXPECT_EQ(*b.at({-1}), 0) << "it is skipped";
  runs = true;
  mesh.transfer("wrap", b, box({{-2, 0}}), a, {8});
  EXPECT_EQ(*b.at({-1}), 3);
}

TEST(Transfers, AreRefusedByName) {
  Mesh mesh;
  const Block &block = mesh.block("block", {8}), &plane = mesh.block("plane", {8, 8});
  auto &a = mesh.data(block, "a"), &flat = mesh.data(plane, "flat");
  auto& whole = mesh.data<std::int64_t>(block, "whole");
  const auto complaint = [&](std::initializer_list<Transfer> transfers) -> std::string {
    try {
      mesh.transfer("moving", std::span(transfers.begin(), transfers.size()));
    } catch (const std::runtime_error& refused) {
      return refused.what();
    }
    return "";
  };
  EXPECT_EQ(complaint({{&a, box({{0, 2}}), &a, {2}}, {&a, box({{2, 4}}), &a, {2}}}), "");
  EXPECT_THAT(complaint({{&a, box({{0, 3}}), &a, {2}}, {&a, box({{2, 4}}), &a, {2}}}),
              HasSubstr("transfer 'moving': from data set 'a' to data set 'a': [2:3] is written twice"));
  EXPECT_THAT(complaint({{&a, box({{8, 11}}), &a, {-8}}}), HasSubstr("it writes [8:11] of [-2:10]"));
  EXPECT_THAT(complaint({{&a, box({{0, 2}}), &a, {-3}}}), HasSubstr("it reads [-3:-1] of [-2:10]"));
  EXPECT_THAT(complaint({{&a, box({{0, 2}}), &whole, {}}}), HasSubstr("of other types"));
  EXPECT_THAT(complaint({{&a, box({{0, 2}}), &flat, {}}}), HasSubstr("other dimensions"));
}

}  // namespace
}  // namespace perdure::mesh
