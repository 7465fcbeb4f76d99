// Checks the rules of every redundancy scheme: all of registry.cpp, in groups of many sizes, with every set of losses.
// The data is rebuilt with the real code as the scheme says, or refused with the reason, and never wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redundancy/cluster_testing.hpp"
#include "redundancy/code.hpp"
#include "redundancy/registry.hpp"
#include "support/sanitized.hpp"

namespace perdure::redundancy {
namespace {

struct Shape {
  const Scheme* scheme;
  unsigned n, m;
  friend std::ostream& operator<<(std::ostream& out, const Shape& shape) {
    return out << shape.scheme->name << ", " << shape.n << " members, " << shape.m << " parities";
  }
};

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (const Scheme& scheme : schemes()) {
    for (const unsigned n : {2u, 3u, 4u, 8u})
      for (unsigned m = scheme.min_parities; m <= std::min(3u, scheme.max_parities); ++m)
        if (group_limits(scheme, m)->min_size <= n) all.push_back({&scheme, n, m});
    if (scheme.max_parities >= 4) all.push_back({&scheme, 14, 4});
  }
  return all;
}

std::string shape_name(const testing::TestParamInfo<Shape>& shape) {
  std::string name = shape.param.scheme->name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name + "_" + std::to_string(shape.param.n) + "_" + std::to_string(shape.param.m);
}

class Losses : public testing::TestWithParam<Shape> {
 protected:
  /// Counts the sets of positions that can be lost, including the server's.
  std::uint64_t sets() const { return std::uint64_t{1} << positions(*GetParam().scheme, GetParam().n); }
};
INSTANTIATE_TEST_SUITE_P(Schemes, Losses, testing::ValuesIn(shapes()), shape_name);

/// Rebuilds everything from the rest, and compares it. Returns how many blocks are gone.
std::uint64_t rebuild(const Cluster& cluster, const Positions& lost) {
  const Cluster left = cluster.without(lost);
  const GroupState state = left.state(lost);
  std::uint64_t gone = 0;
  for (unsigned p = 0; p < cluster.n(); ++p)
    for (std::uint64_t b = 0; b < state.blocks[p]; ++b) {
      const Restoration how = cluster.scheme().restore(state, {p, b});
      const auto data = left.restored({p, b}, how, state);
      EXPECT_EQ(data.has_value(), restorable(how)) << restoration_text(how);
      if (data) {
        EXPECT_EQ(*data, cluster.original({p, b})) << "rebuilt wrong: " << restoration_text(how);
      }
      if (!data) ++gone;
      if (!data) {
        EXPECT_THAT(restoration_text(how), testing::HasSubstr("gone"));
      }
    }
  return gone;
}

TEST_P(Losses, OfEverySetOfPositionsAreRebuiltOrRefusedWithTheReason) {
  const auto& [scheme, n, m] = GetParam();
  const Cluster uneven(*scheme, n, m, 1, Cluster::uneven), even(*scheme, n, m, 2, Cluster::even);
  const std::uint64_t step = n <= 8 ? 1 : test_support::unless_sanitized(1, 13);
  for (std::uint64_t set = 0; set < sets(); set += step) {
    const Positions lost(set);
    const bool survives = scheme->survives(n, m, lost);
    if (lost.count() <= scheme->losses(n, m)) {
      ASSERT_TRUE(survives) << lost;
    }
    const std::uint64_t gone = rebuild(uneven, lost);
    if (survives) {
      ASSERT_EQ(gone, 0u) << lost;
    }
    if (n <= 8) {
      ASSERT_EQ(rebuild(even, lost) == 0, survives) << lost << ": it says less, or more, than is true";
    }
    ASSERT_FALSE(HasFailure()) << lost;
  }
}

TEST_P(Losses, ADamagedItemCountsAsLostAndNothingIsRebuiltFromIt) {
  const auto& [scheme, n, m] = GetParam();
  const Cluster whole(*scheme, n, m, 3, Cluster::uneven);
  std::mt19937_64 random(4);
  for (int i = 0; i < 150; ++i) {
    Cluster cluster = whole;
    for (auto flips = 1 + random() % 3; flips > 0; --flips) cluster.flip_a_byte(random);
    Positions lost;
    if (random() % 3 > 0) lost.set(random() % n);
    rebuild(cluster, lost);
    ASSERT_FALSE(HasFailure()) << i;
  }
}

TEST_P(Losses, OneDamagedItemAloneIsAlwaysRepaired) {
  const auto& [scheme, n, m] = GetParam();
  if (scheme->losses(n, m) == 0) return;
  std::mt19937_64 random(5);
  for (int i = 0; i < 50; ++i) {
    Cluster cluster(*scheme, n, m, 6, Cluster::uneven);
    cluster.flip_a_byte(random);
    ASSERT_EQ(rebuild(cluster, {}), 0u);
  }
}

TEST_P(Losses, WhatIsKeptIsAsMuchAsItSays) {
  const auto& [scheme, n, m] = GetParam();
  const Cluster cluster(*scheme, n, m, 7, Cluster::even);
  for (unsigned p = 0; p < n; ++p)
    EXPECT_DOUBLE_EQ(static_cast<double>(cluster.redundancy_bytes(p)),
                     scheme->kept_per_byte(n, m) * static_cast<double>(cluster.own_bytes(p)));
}

TEST_P(Losses, EveryBlockIsInWhatIsKeptForItAndNothingElseIs) {
  const auto& [scheme, n, m] = GetParam();
  const auto map = scheme->map(n, m);
  std::vector<std::uint64_t> blocks;
  for (unsigned p = 0; p < n; ++p) blocks.push_back(5 * p % 7);
  std::map<Item, std::vector<Kept>> expected;  // by block, from the blocks that the positions keep
  for (unsigned position = 0; position <= n; ++position) {
    std::set<std::uint64_t> numbers;
    for (const Kept& kept : map->kept(position, blocks)) {
      EXPECT_EQ(kept.position, position);
      EXPECT_LT(position, positions(*scheme, n));
      EXPECT_TRUE(numbers.empty() || kept.number > *numbers.rbegin()) << "ascending, and each once";
      numbers.insert(kept.number);
      bool any = false;
      for (const Term& term : map->recipe(kept)) {
        EXPECT_EQ(term.item.kind, Item::Kind::data);
        EXPECT_NE(term.item.position, position) << "lost with what it is made of";
        EXPECT_NE(term.factor, 0);
        if (term.item.number >= blocks[term.item.position]) continue;
        any = true;
        expected[term.item].push_back(kept);
      }
      EXPECT_TRUE(any) << "of nothing";
    }
  }
  for (unsigned p = 0; p < n; ++p)
    for (std::uint64_t number = 0; number < blocks[p]; ++number) {
      const auto kept = map->kept_for({p, number});
      EXPECT_THAT(kept, testing::UnorderedElementsAreArray(expected[{Item::Kind::data, p, number}]));
      EXPECT_EQ(kept.empty(), !keeps_redundancy(*scheme));
    }
}

TEST(Schemes, KeepNothingInAGroupThatTheyCannotHave) {
  for (const Scheme& scheme : schemes())
    for (const auto& [n, m] : std::vector<std::pair<unsigned, unsigned>>{{0, 0}, {1, 1}, {3, 200}, {2, 2}, {100, 1}}) {
      const auto map = scheme.map(n, m);
      ASSERT_NE(map, nullptr) << scheme.name;
      (void)map->kept(0, std::vector<std::uint64_t>(n, 1));
    }
}

TEST(Schemes, AServerKeepsNothingForAGroupThatIsTooLarge) {
  const Scheme& scheme = *find_scheme("parity-server").value();
  EXPECT_EQ(scheme.map(63, 1)->kept(63, std::vector<std::uint64_t>(63, 1)).size(), 1U);
  EXPECT_TRUE(scheme.map(64, 1)->kept(64, std::vector<std::uint64_t>(64, 1)).empty());
}

TEST(Schemes, ParitiesAreThoseOfTheCode) {
  for (const unsigned m : {1u, 2u, 3u}) {
    const auto map = find_scheme("reed-solomon").value()->map(5, m);
    const Stripes stripes(5, m);
    const Code code = Code::make(stripes.k(), m).value();
    std::mt19937_64 random(m);
    std::vector<reference::Bytes> items;
    for (unsigned i = 0; i < stripes.k(); ++i) items.push_back(reference::random_bytes(30 + i, random));
    const std::vector<base::ConstByteSpan> data(items.begin(), items.end());
    std::vector<reference::Bytes> parities(m, reference::Bytes(30 + stripes.k() - 1));
    ASSERT_TRUE(code.encode(data, std::vector<base::ByteSpan>(parities.begin(), parities.end())));
    for (const Kept& kept : map->kept_for(stripes.block({3, 0}))) {
      const auto terms = map->recipe(kept);
      reference::Bytes sum(parities[kept.index].size());
      const base::ByteSpan target(sum);
      std::vector<base::ConstByteSpan> sources;
      for (const Term& term : terms)
        sources.push_back(data[stripes.place({term.item.position, term.item.number}).index]);
      sum_of(terms).apply(sources, std::span(&target, 1));
      EXPECT_EQ(sum, parities[kept.index]);
    }
  }
}

TEST(Schemes, AreFoundByNameAndAllNamedInTheRefusal) {
  std::set<std::string> names;
  for (const Scheme& scheme : schemes()) {
    EXPECT_TRUE(names.insert(scheme.name).second);
    EXPECT_EQ(find_scheme(scheme.name).value(), &scheme);
    EXPECT_THAT(find_scheme("raid").error().text(), testing::HasSubstr(scheme.name));
    EXPECT_EQ(scheme.rereads, std::string(scheme.name) == "partner");
  }
  EXPECT_EQ(names, (std::set<std::string>{
                       "single",
                       "partner",
                       "buddy",
                       "xor",
                       "reed-solomon",
                       "parity-server",
                   }));
}

TEST(Schemes, SayHowManyParitiesTheyCanHave) {
  const Scheme &rs = **find_scheme("reed-solomon"), &only_one = **find_scheme("xor");
  EXPECT_EQ(parities(rs, 3), 3u);
  EXPECT_EQ(parities(only_one, 3), 1u);
  EXPECT_EQ(group_limits(rs, 8)->min_size, 9u);
  EXPECT_EQ(group_limits(only_one, 1)->min_size, 2u);
  EXPECT_THAT(group_limits(rs, 9).error().text(), testing::HasSubstr("choose 1 to 8"));
  EXPECT_THAT(group_limits(rs, 0).error().text(), testing::HasSubstr("cannot have 0 parities"));
  EXPECT_THAT(group_limits(only_one, 2).error().text(), testing::HasSubstr("choose 1"));
}

TEST(Schemes, WithOneParityReedSolomonKeepsTheBytesThatXorKeeps) {
  for (const unsigned n : {2u, 3u, 8u})
    EXPECT_EQ(Cluster(**find_scheme("xor"), n, 1, 8, Cluster::uneven).kept(),
              Cluster(**find_scheme("reed-solomon"), n, 1, 8, Cluster::uneven).kept());
}

TEST(Schemes, ABlockNobodyElseHasIsStillDecodedWhenTheOthersHaveNoneInItsStripe) {
  GroupState state{.n = 3, .m = 1, .blocks = {4, 0, 1}, .lost = Positions(0b011), .damaged = {}};
  const Scheme& scheme = **find_scheme("xor");
  EXPECT_FALSE(scheme.survives(3, 1, state.lost));
  const auto how = scheme.restore(state, {0, 2});  // stripe 4, its parity on position 1: gone
  EXPECT_EQ(how.how, Restoration::How::stripe_gone);
  EXPECT_EQ(scheme.restore(state, {0, 1}).how, Restoration::How::decode) << "with position 1, which had nothing";
}

}  // namespace
}  // namespace perdure::redundancy
