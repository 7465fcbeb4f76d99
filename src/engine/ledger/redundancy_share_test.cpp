// Compares what every position has to keep with the plain rule of each scheme: which positions get parities and copies.
#include "engine/ledger/redundancy_share.hpp"

#include <gmock/gmock.h>

#include <random>

#include "redundancy/registry.hpp"
#include "redundancy/stripes.hpp"
#include "support/sample_records.hpp"

namespace perdure::engine {
namespace {

using Names = std::set<catalog::BlockName>;

segment::Piece piece_with(std::uint32_t rank, std::uint64_t chunks) {
  segment::Piece piece{rank, 4096, {{0, 1, 4096 * chunks}}, {}};
  piece.chunks.resize(chunks, {0, 4096, {}, 0});
  return piece;
}

/// Each position has up to two ranks with up to `most` chunks each, or none.
catalog::RedundancySet random_protection(const char* scheme, unsigned n, unsigned m, std::uint64_t seed,
                                         std::uint64_t most = 6) {
  std::mt19937_64 random(seed);
  catalog::RedundancySet redundancy_set{{test_support::sample_id(1), 9}, 0, 2, scheme, m, 0, {}, {}, false};
  for (unsigned p = 0; p < n; ++p) {
    redundancy_set.members.emplace_back();
    for (std::uint64_t ranks = random() % 3; ranks > 0; --ranks)
      redundancy_set.members.back().push_back(piece_with(redundancy_set.ranks++, random() % (most + 1)));
  }
  return redundancy_set;
}

std::vector<std::uint64_t> counts_of(const catalog::RedundancySet& redundancy_set) {
  std::vector<std::uint64_t> counts;
  for (const auto& order : block_orders(redundancy_set.members)) counts.push_back(order.count());
  return counts;
}

Names names_at(const catalog::RedundancySet& redundancy_set, unsigned position) {
  Names names;
  for (const auto& [number, name] : blocks_to_keep(redundancy_set, position)) {
    EXPECT_EQ(number, name.stripe) << "a copy has the number of its block, a parity that of its stripe";
    names.insert(name);
  }
  return names;
}

Names copies_at(const std::vector<std::uint64_t>& counts, unsigned position) {
  const auto n = static_cast<unsigned>(counts.size());
  Names names;
  for (unsigned p = 0; p < n; ++p)
    for (std::uint64_t b = 0; (p + 1) % n == position && b < counts[p]; ++b) names.insert({b, p});
  return names;
}

/// Returns the parities at this position of all stripes that have a block.
Names parities_at(const redundancy::Stripes& stripes, const std::vector<std::uint64_t>& counts, unsigned position) {
  Names names;
  for (unsigned p = 0; p < counts.size(); ++p)
    for (std::uint64_t b = 0; b < counts[p]; ++b) {
      const std::uint64_t stripe = stripes.place({p, b}).stripe;
      for (unsigned j = 0; j < stripes.m(); ++j)
        if (stripes.parity_position(stripe, j) == position) names.insert({stripe, j});
    }
  return names;
}

TEST(RedundancyShare, CopiesAreAtTheNextPosition) {
  for (const char* scheme : {"buddy", "partner"})
    for (unsigned n = 2; n <= 4; ++n)
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const auto redundancy_set = random_protection(scheme, n, 1, seed);
        for (unsigned p = 0; p < n; ++p)
          EXPECT_EQ(names_at(redundancy_set, p), copies_at(counts_of(redundancy_set), p));
      }
}

TEST(RedundancyShare, EveryStripeThatHasABlockHasItsParities) {
  for (unsigned n = 2; n <= 5; ++n)
    for (unsigned m = 1; m < n; ++m)
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const auto redundancy_set = random_protection(m == 1 ? "xor" : "reed-solomon", n, m, seed);
        for (unsigned p = 0; p < n; ++p)
          EXPECT_EQ(names_at(redundancy_set, p), parities_at({n, m}, counts_of(redundancy_set), p)) << n << " " << m;
      }
}

TEST(RedundancyShare, AServerKeepsTheParityOfEveryStripeAndTheMembersNothing) {
  const auto redundancy_set = random_protection("parity-server", 3, 1, 4);
  const auto at_server = parities_at(redundancy::Stripes::at_server(3), counts_of(redundancy_set), 3);
  ASSERT_FALSE(at_server.empty());
  EXPECT_EQ(names_at(redundancy_set, 3), at_server);
  for (unsigned p = 0; p < 3; ++p) EXPECT_EQ(names_at(redundancy_set, p), Names());
}

TEST(RedundancyShare, WhatNobodyCanHaveEncodedIsNothing) {
  auto redundancy_set = random_protection("xor", 4, 1, 1);
  const auto any = [&] {
    for (unsigned p = 0; p < 4; ++p)
      if (!blocks_to_keep(redundancy_set, p).empty()) return true;
    return false;
  };
  ASSERT_TRUE(any());
  for (const char* scheme : {"single", "surprise"}) {
    redundancy_set.scheme = scheme;
    EXPECT_FALSE(any()) << scheme;
  }
  redundancy_set.scheme = "xor";
  for (const std::uint32_t parities : {0U, 4U, 5U}) {
    redundancy_set.parities = parities;
    EXPECT_FALSE(any()) << parities;
  }
}

TEST(RedundancyShare, ASummarySaysWhoIsWhereAndWhatIsMissing) {
  auto redundancy_set = random_protection("reed-solomon", 4, 2, 3, 9);
  redundancy_set.position = 2;
  std::vector<std::uint64_t> missing;
  for (const auto& [number, name] : blocks_to_keep(redundancy_set, 2))
    if (missing.size() < 2)
      missing.push_back(number);
    else
      redundancy_set.kept[name] = {0, 4096, {}, 0};
  ASSERT_EQ(missing.size(), 2U);
  ASSERT_FALSE(redundancy_set.kept.empty());
  redundancy_set.kept[{4000, 0}] = {0, 4096, {}, 0};  // no stripe has this block
  const auto summary = summary_of(redundancy_set);
  EXPECT_EQ(summary.id, redundancy_set.id.version);
  EXPECT_EQ(summary.missing, missing);
  EXPECT_EQ(std::tuple(summary.ranks, summary.epoch, summary.group), std::tuple(redundancy_set.ranks, 9U, 2U));
  EXPECT_EQ(std::tuple(summary.scheme, summary.parities, summary.position), std::tuple("reed-solomon", 2U, 2U));
  ASSERT_EQ(summary.members.size(), 4U);
  for (unsigned p = 0; p < 4; ++p)
    for (std::size_t i = 0; i < redundancy_set.members[p].size(); ++i)
      EXPECT_EQ(summary.members[p][i], (ipc::RedundancySummary::Member{redundancy_set.members[p][i].rank,
                                                                       redundancy_set.members[p][i].chunks.size()}));
}

}  // namespace
}  // namespace perdure::engine
