// Tests that a position encodes the right blocks, whatever the order in which it learns of their sources.
#include "engine/replicate/encoding.hpp"

#include <gmock/gmock.h>

#include <random>

#include "redundancy/registry.hpp"

namespace perdure::engine {
namespace {

constexpr std::uint64_t kPieceChunk = 4096;

segment::Piece piece_of(std::uint32_t rank, std::uint64_t bytes) {
  segment::Piece piece{rank, kPieceChunk, {{0, 1, bytes}}, {}};
  for (std::uint64_t at = 0; at < bytes; at += kPieceChunk)
    piece.chunks.push_back({0, std::min(kPieceChunk, bytes - at), {}, 0});
  return piece;
}

base::Hash128 hash_of(redundancy::Block block) {
  const std::uint64_t words[] = {block.position, block.number};
  return base::hash128(std::as_bytes(std::span(words)));
}

struct EncodingCase {
  const char* scheme;
  unsigned n, m;
};

/// A message from one position to another.
struct News {
  unsigned position = 0;
  std::optional<std::uint64_t> block;  // nullopt: the announcement
};

/// A group whose positions have up to three ranks with up to seven chunks each, or none at all.
class HeardGroup {
 public:
  HeardGroup(const EncodingCase& c, std::uint64_t seed)
      : random_(seed), scheme_{*redundancy::find_scheme(c.scheme), c.n, c.m, 4} {
    std::uint32_t rank = 0;
    for (unsigned p = 0; p < c.n; ++p) {
      pieces_.emplace_back();
      for (std::uint64_t ranks = random_() % 4; ranks > 0; --ranks)
        pieces_.back().push_back(piece_of(rank++, random_() % (7 * kPieceChunk)));
    }
    ranks_ = rank;
  }
  Encoding encoding(unsigned position) const { return {{{"app", 1, {1, 1}}, 9}, scheme_, position, ranks_}; }
  std::uint64_t blocks(unsigned position) const {
    std::uint64_t count = 0;
    for (const auto& piece : pieces_[position]) count += piece.chunks.size();
    return count;
  }
  /// Returns each message once, and some twice. A position's blocks come after its announcement.
  std::vector<News> news() {
    std::vector<std::vector<News>> queues;
    for (unsigned p = 0; p < scheme_.members; ++p) {
      queues.push_back({{p, std::nullopt}});
      for (std::uint64_t b = 0; b < blocks(p); ++b) queues.back().push_back({p, b});
      std::shuffle(queues.back().begin() + 1, queues.back().end(), random_);
      for (int i = 0; i < 3; ++i) queues.back().push_back(queues.back()[random_() % queues.back().size()]);
    }
    std::vector<News> all;
    while (!queues.empty()) {
      auto& queue = queues[random_() % queues.size()];
      all.push_back(queue.front());
      queue.erase(queue.begin());
      std::erase_if(queues, [](const auto& left) { return left.empty(); });
    }
    return all;
  }
  base::Status tell(Encoding& to, const News& news) const {
    if (!news.block) return to.announced(news.position, pieces_[news.position]);
    return to.offered(news.position, {*news.block, hash_of({news.position, *news.block}), {{}, *news.block}});
  }
  const GroupScheme& scheme() const { return scheme_; }

 private:
  std::mt19937_64 random_;
  GroupScheme scheme_;
  std::vector<std::vector<segment::Piece>> pieces_;
  std::uint32_t ranks_ = 0;
};

class EncodingOf : public testing::TestWithParam<EncodingCase> {};

void expect_all_protected_once(HeardGroup group, const EncodingCase& c) {
  std::map<redundancy::Block, unsigned> protected_times;
  for (unsigned position = 0; position < c.n; ++position) {
    Encoding encoding = group.encoding(position);
    std::set<redundancy::Block> heard;
    std::set<catalog::BlockName> given;
    const auto all = group.news();
    for (const News& news : all) {
      EXPECT_FALSE(encoding.complete() && heard.empty() && group.blocks(news.position) > 0);
      ASSERT_TRUE(group.tell(encoding, news));
      if (news.block) heard.insert({news.position, *news.block});
      while (auto task = encoding.next_task()) {
        EXPECT_TRUE(given.insert(task->name).second) << "twice";
        EXPECT_FALSE(task->sources.empty());
        for (const auto& source : task->sources) {
          EXPECT_TRUE(heard.contains(source.block)) << "before it was offered";
          EXPECT_EQ(source.hash, hash_of(source.block));
          EXPECT_NE(source.block.position, position) << "lost with what it is made of";
          EXPECT_LE(source.length, task->length);
          ++protected_times[source.block];
        }
        EXPECT_FALSE(encoding.complete());
        encoding.kept(task->name, {given.size(), task->length, {}, 0});
      }
    }
    EXPECT_TRUE(encoding.complete());
    EXPECT_EQ(encoding.redundancy_set().kept.size(), given.size());
    EXPECT_EQ(encoding.redundancy_set().members.size(), c.n);
  }
  const auto map = group.scheme().scheme->map(c.n, c.m);
  for (unsigned position = 0; position < c.n; ++position)
    for (std::uint64_t number = 0; number < group.blocks(position); ++number)
      EXPECT_EQ((protected_times[{position, number}]), map->kept_for({position, number}).size())
          << position << " " << number;
}

TEST_P(EncodingOf, EveryBlockIsProtectedOnceAndNothingIsEncodedBeforeItsBlocksAreThere) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_all_protected_once(HeardGroup(GetParam(), seed), GetParam());
  }
}

TEST_P(EncodingOf, TheLevelIsReachedWhenEveryPositionKeepsItsPart) {
  HeardGroup group(GetParam(), 1);
  Encoding encoding = group.encoding(0);
  for (unsigned position = 0; position < GetParam().n; ++position) {
    EXPECT_FALSE(encoding.reached());
    encoding.keeps(position);
    encoding.keeps(position);
  }
  EXPECT_TRUE(encoding.reached());
}

std::vector<EncodingCase> encoding_cases() {
  std::vector<EncodingCase> all;
  for (const auto& scheme : redundancy::schemes())
    for (unsigned n : {2U, 3U, 4U, 8U})
      for (unsigned m = scheme.min_parities; m <= std::min(3U, scheme.max_parities); ++m)
        if (redundancy::keeps_redundancy(scheme) && !scheme.at_server &&
            redundancy::group_limits(scheme, m)->min_size <= n)
          all.push_back({scheme.name, n, m});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Groups, EncodingOf, testing::ValuesIn(encoding_cases()), [](const auto& tested) {
  std::string name = tested.param.scheme;
  std::erase(name, '-');
  return name + "_" + std::to_string(tested.param.n) + "_" + std::to_string(tested.param.m);
});

TEST(Encoding, WhatContradictsItselfIsRefused) {
  HeardGroup group({"xor", 2, 1}, 1);
  Encoding encoding = group.encoding(0);
  EXPECT_EQ(encoding.offered(1, {0, {}, {}}).error().code, PERDURE_INVALID_ARGUMENT) << "not announced yet";
  ASSERT_TRUE(encoding.announced(1, {piece_of(1, 2 * kPieceChunk)}));
  EXPECT_TRUE(encoding.announced(1, {piece_of(1, 2 * kPieceChunk)}));
  EXPECT_EQ(encoding.announced(1, {piece_of(1, 3 * kPieceChunk)}).error().code, PERDURE_MISMATCH);
  EXPECT_EQ(encoding.announced(1, {}).error().code, PERDURE_MISMATCH);
  EXPECT_EQ(encoding.announced(2, {}).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(encoding.announced(0, {piece_of(0, 1), piece_of(1, 1)}).error().code, PERDURE_MISMATCH)
      << "rank 1 is at position 1";
  EXPECT_FALSE(encoding.has_announced(0));
  EXPECT_EQ(encoding.offered(1, {2, {}, {}}).error().code, PERDURE_INVALID_ARGUMENT);
  ASSERT_TRUE(encoding.offered(1, {0, hash_of({1, 0}), {}}));
  EXPECT_TRUE(encoding.offered(1, {0, hash_of({1, 0}), {}}));
  EXPECT_EQ(encoding.offered(1, {0, hash_of({1, 1}), {}}).error().code, PERDURE_MISMATCH);
}

TEST(Encoding, WithAServerNoPositionEncodesAnything) {
  for (unsigned position = 0; position < 3; ++position) {
    HeardGroup group({"parity-server", 3, 1}, 2);
    Encoding encoding = group.encoding(position);
    for (const News& news : group.news()) {
      ASSERT_TRUE(group.tell(encoding, news));
      EXPECT_FALSE(encoding.next_task());
    }
    EXPECT_TRUE(encoding.complete());
    EXPECT_TRUE(encoding.redundancy_set().kept.empty());
    for (unsigned keeper = 0; keeper < 3; ++keeper) encoding.keeps(keeper);
    EXPECT_FALSE(encoding.reached()) << "the server does not keep it yet";
    encoding.keeps(3);
    EXPECT_TRUE(encoding.reached());
  }
}

TEST(Encoding, AFailedTaskIsGivenAgain) {
  HeardGroup group({"buddy", 2, 0}, 1);
  Encoding encoding = group.encoding(0);
  ASSERT_TRUE(encoding.announced(0, {}));
  ASSERT_TRUE(encoding.announced(1, {piece_of(1, kPieceChunk)}));
  ASSERT_TRUE(encoding.offered(1, {0, {}, {}}));
  auto task = encoding.next_task();
  ASSERT_TRUE(task);
  EXPECT_FALSE(encoding.next_task());
  encoding.failed(*task);
  EXPECT_TRUE(encoding.next_task());
  EXPECT_FALSE(encoding.complete());
}

}  // namespace
}  // namespace perdure::engine
