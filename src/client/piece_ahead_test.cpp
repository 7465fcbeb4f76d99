// Small checkpoints that follow each other shortly: one exchange of the ranks, and the same results as with two.
#include "client/piece_ahead.hpp"

#include <gmock/gmock.h>

#include "client/ranks_testing.hpp"
#include "comm/counting_testing.hpp"

namespace perdure::client {
namespace {

TEST(NextAttempt, IsTakenOnceAndOfItsNameOnly) {
  NextAttempt next;
  EXPECT_FALSE(next.take("app", 0)) << "nothing was told";
  next.told("app", {7, 8}, 100);
  EXPECT_EQ(next.take("app", 200), (segment::Attempt{7, 8}));
  EXPECT_FALSE(next.take("app", 200));
  next.told("app", {7, 8}, 100);
  EXPECT_FALSE(next.take("other", 200));
  EXPECT_FALSE(next.take("app", 200)) << "who calls for another name has forgotten it";
  next.told("app", {0, 8}, 100);
  EXPECT_FALSE(next.take("app", 200)) << "rank 0 told of none";
}

TEST(NextAttempt, DoesNotLast) {
  NextAttempt next;
  next.told("app", {7, 8}, 100);
  EXPECT_TRUE(next.take("app", 100 + NextAttempt::kLastsNs));
  next.told("app", {7, 8}, 100);
  EXPECT_FALSE(next.take("app", 101 + NextAttempt::kLastsNs));
}

class PiecesAhead : public JobOfThreads {
 protected:
  /// Every rank has a session that counts its exchanges, and `bytes` of its own.
  void on_counted(const std::function<void(Session&, int rank, unsigned& exchanges)>& work) {
    test_support::ThreadGroup group(ranks_);
    group.run([&](const perdure_communicator& c) {
      unsigned exchanges = 0;
      auto comm = std::make_unique<comm::CountingCommunicator>(comm::make_from_c(c).value(), exchanges);
      auto session = Session::open(std::move(comm), options(more_).c_str());
      ASSERT_TRUE(session) << session.error().text();
      work(**session, c.rank, exchanges);
      EXPECT_TRUE((*session)->close());
    });
  }
  static unsigned exchanges_of(Session& session, std::int64_t version, unsigned& exchanges) {
    const unsigned before = exchanges;
    const auto taken = session.checkpoint("app", version);
    EXPECT_TRUE(taken) << taken.error().text();
    return exchanges - before;
  }
  static base::Status protect(Session& session, std::vector<std::uint32_t>& memory) {
    return session.protect({1, reinterpret_cast<std::byte*>(memory.data()), 4, memory.size()});
  }
  static void expect_back(Session& session, std::int64_t version, std::vector<std::uint32_t>& memory,
                          std::uint32_t value) {
    std::fill(memory.begin(), memory.end(), 0U);
    const auto restored = session.restore("app", version, {});
    ASSERT_TRUE(restored) << restored.error().text();
    EXPECT_THAT(memory, testing::Each(value));
  }
};

TEST_F(PiecesAhead, TakeOneExchangeFromTheSecondOn) {
  on_counted([](Session& session, int rank, unsigned& exchanges) {
    std::vector<std::uint32_t> memory(1000);
    ASSERT_TRUE(protect(session, memory));
    for (std::uint32_t version = 1; version <= 4; ++version) {
      std::fill(memory.begin(), memory.end(), 10 * version + static_cast<std::uint32_t>(rank));
      EXPECT_EQ(exchanges_of(session, version, exchanges), version == 1 ? 2U : 1U) << "version " << version;
      expect_back(session, version, memory, 10 * version + static_cast<std::uint32_t>(rank));
    }
    ASSERT_TRUE(session.wait("app", 4, PERDURE_LEVEL_STORE, 60));
  });
  on_sessions([](Session& session, std::uint32_t rank) {
    std::vector<std::uint32_t> memory(1000);
    ASSERT_TRUE(protect(session, memory));
    expect_back(session, PERDURE_LATEST, memory, 40 + rank);
  });
}

// One of them has more now: the others' pieces are staged again, of the attempt of this call.
TEST_F(PiecesAhead, OfSomeRanksAreStagedWithTheOthersAgain) {
  for (const int large : {0, 3}) {
    more_ = "store.path=" + directory_.path() + "/store" + std::to_string(large);
    on_counted([large](Session& session, int rank, unsigned& exchanges) {
      std::vector<std::uint32_t> memory(1000);
      for (std::uint32_t version = 1; version <= 6; ++version) {
        memory.assign(rank == large && version == 3 ? 100'000 : 1000, 10 * version + static_cast<std::uint32_t>(rank));
        ASSERT_TRUE(protect(session, memory));
        const unsigned expected = version == 1 || version == 3 || version == 4 ? 2 : 1;
        EXPECT_EQ(exchanges_of(session, version, exchanges), expected) << "version " << version;
        expect_back(session, version, memory, 10 * version + static_cast<std::uint32_t>(rank));
      }
    });
  }
}

TEST_F(PiecesAhead, LeaveNothingWhereTheCallIsRefused) {
  on_counted([](Session& session, int rank, unsigned& exchanges) {
    std::vector<std::uint32_t> memory(1000, 1);
    ASSERT_TRUE(protect(session, memory));
    ASSERT_TRUE(session.checkpoint("app", 1));
    std::fill(memory.begin(), memory.end(), 2U);
    const auto again = session.checkpoint("app", 1);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, rank == 0 ? PERDURE_EXISTS : PERDURE_PEER_FAILED);
    ASSERT_TRUE(session.checkpoint("app", 2));
    const auto other = session.checkpoint("app", rank == 1 ? 4 : 3);
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, PERDURE_MISMATCH);
    EXPECT_EQ(session.latest("app").value(), 2U);
    expect_back(session, 2, memory, 2);
    ASSERT_TRUE(session.checkpoint("app", 5));
    std::fill(memory.begin(), memory.end(), 6U);
    EXPECT_EQ(exchanges_of(session, 6, exchanges), 1U);
    expect_back(session, 6, memory, 6);
    expect_back(session, 5, memory, 2);
  });
}

TEST_F(PiecesAhead, AreStagedWithoutTheOthersAndGoWithTheirAbortOrTheirEnd) {
  on_ranks([](Job& job) {
    std::vector<std::byte> memory(4096, std::byte{7});
    capture::RegionTable regions;
    ASSERT_TRUE(regions.protect({1, memory.data(), 1, memory.size()}));
    RegionPlaces places(job.config());
    const auto held = [&](std::uint64_t version) {
      const auto all = job.engine().inventory("app");
      EXPECT_TRUE(all);
      return std::ranges::count_if(*all, [&](const auto& one) {
        return one.id.version == version && std::ranges::count(one.held, job.rank()) == 1;
      });
    };
    // Each rank a version of its own: an abort is one of all of a version that the node has.
    const segment::VersionId id{"app", 10 + job.rank(), {5, job.rank()}};
    PieceAhead piece(job, regions, places, id);
    EXPECT_EQ(held(id.version), 0);
    EXPECT_EQ(piece.stage(), id.attempt);
    EXPECT_EQ(held(id.version), 1);
    piece.abort();
    EXPECT_EQ(held(id.version), 0);
    {
      PieceAhead ended(job, regions, places, id);
      EXPECT_EQ(ended.stage(), id.attempt);
    }
    EXPECT_EQ(held(id.version), 0);
  });
}

// Rank 0 has all of the tier, and may give it back: who asks as usual waits for that.
TEST_F(PiecesAhead, DoNotWaitForRoom) {
  ranks_ = per_node_ = 2;
  more_ = "tier.order=memory";  // of 16 MiB
  on_ranks([](Job& job) {
    std::vector<std::byte> memory(16384, std::byte{7});
    capture::RegionTable regions;
    ASSERT_TRUE(regions.protect({1, memory.data(), 1, memory.size()}));
    RegionPlaces places(job.config());
    std::vector<std::unique_ptr<PieceAhead>> pieces;
    const auto stage = [&] {
      const std::uint64_t version = 1 + pieces.size() + 10'000 * job.rank();
      pieces.push_back(std::make_unique<PieceAhead>(job, regions, places, segment::VersionId{"app", version, {1, 0}}));
      return pieces.back()->stage().has_value();
    };
    if (job.rank() == 0)
      while (stage()) ASSERT_LT(pieces.size(), 2000U);
    ASSERT_TRUE(job.comm().barrier());
    if (job.rank() == 1) EXPECT_FALSE(stage());
    ASSERT_TRUE(job.comm().barrier());
    pieces.clear();
    ASSERT_TRUE(job.comm().barrier());
    EXPECT_TRUE(stage()) << "there is room again";
  });
}

/// What the opening is told of it, and whether it was given up.
class ToldPiece : public AheadOfOpening {
 public:
  explicit ToldPiece(std::optional<segment::Attempt> attempt) : attempt_(attempt) {}
  std::optional<segment::Attempt> stage() override {
    ++staged;
    return attempt_;
  }
  void abort() override { ++aborted; }
  int staged = 0, aborted = 0;

 private:
  std::optional<segment::Attempt> attempt_;
};

TEST_F(PiecesAhead, AreAgreedOnWhereAllHaveThemOfTheSameAttempt) {
  on_ranks([](Job& job) {
    const Opening opening{Operation::checkpoint, "app", 1};
    const segment::Attempt attempt{77, 78};
    ToldPiece piece(attempt);
    const auto opened = job.begin(opening, {}, &piece);
    ASSERT_TRUE(opened);
    EXPECT_TRUE(opened->all_staged);
    EXPECT_EQ(opened->root_words[0], 77U);
    EXPECT_EQ(opened->root_words[1], 78U);
    EXPECT_EQ(piece.aborted, 0);

    const std::vector<std::function<std::optional<segment::Attempt>(std::uint32_t)>> otherwise = {
        [&](std::uint32_t rank) { return rank == 2 ? std::nullopt : std::optional(attempt); },
        [&](std::uint32_t rank) {
          return std::optional(rank == 2 ? segment::Attempt{76, 78} : attempt);
        },
        [](std::uint32_t) -> std::optional<segment::Attempt> { return std::nullopt; }};
    for (const auto& of : otherwise) {
      ToldPiece other(of(job.rank()));
      const auto some = job.begin(opening, {}, &other);
      ASSERT_TRUE(some);
      EXPECT_FALSE(some->all_staged);
      EXPECT_NE(some->root_words[0], 77U);
      EXPECT_EQ(other.aborted, 1);
    }
    ToldPiece unready(attempt);
    const base::Status mine = job.rank() == 1 ? base::Status(base::fail(PERDURE_IO, "x", "y")) : base::Status();
    EXPECT_FALSE(job.begin(opening, mine, &unready));
    EXPECT_EQ(unready.aborted, 1);
    EXPECT_EQ(unready.staged, job.rank() == 1 ? 0 : 1);

    ToldPiece lost(attempt);
    if (job.rank() == 3) job.engine().channel().close();
    const auto attached = job.begin(opening, {}, &lost);
    ASSERT_TRUE(attached);
    EXPECT_FALSE(attached->all_staged);
    EXPECT_EQ(lost.aborted, 1);
  });
}

}  // namespace
}  // namespace perdure::client
