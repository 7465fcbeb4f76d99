// Small checkpoints that follow each other shortly take one exchange of the ranks, with the same results as with two.
#include "client/write/piece_ahead.hpp"

#include <gmock/gmock.h>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "client/ranks_testing.hpp"
#include "comm/counting_testing.hpp"
#include "metrics/family_codec.hpp"
#include "support/quiescent.hpp"
#include "support/write_segment.hpp"

namespace perdure::client {
namespace {

/// Returns the engine's counter of this name.
double counted_as(const std::string& name, const ipc::View& view) {
  const auto json = base::decode_cbor(view.cbor, "metrics");
  const auto families = metrics::families_from_json(json.value()["families"], "metrics");
  for (const metrics::Family& family : families.value())
    if (family.name == name) return family.samples.at(0).value;
  ADD_FAILURE() << name;
  return -1;
}

TEST(NextAttempt, IsTakenOnceAndOfItsNameOnly) {
  NextAttempt next;
  EXPECT_FALSE(next.take("app", 0)) << "nothing was told";
  next.told("app", {7, 8}, 100);
  EXPECT_EQ(next.take("app", 200).value().attempt, (segment::Attempt{7, 8}));
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
  EXPECT_TRUE(next.take("app", 100 + NextAttempt::kLastsNs).value().lasts);
  next.told("app", {7, 8}, 100);
  EXPECT_FALSE(next.take("app", 101 + NextAttempt::kLastsNs).value().lasts);
}

class PiecesAhead : public JobOfThreads {
 protected:
  /// A session that counts its exchanges.
  base::Result<std::unique_ptr<Session>> counted(const perdure_communicator& c, unsigned& exchanges) const {
    auto comm = std::make_unique<comm::CountingCommunicator>(comm::make_from_c(c).value(), exchanges);
    return Session::open(std::move(comm), options(more_).c_str());
  }
  /// Runs `work` on every rank with such a session.
  void on_counted(const std::function<void(Session&, int rank, unsigned& exchanges)>& work) {
    test_support::ThreadGroup group(ranks_);
    group.run([&](const perdure_communicator& c) {
      unsigned exchanges = 0;
      auto session = counted(c, exchanges);
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
  /// Makes checkpoints of `memory`, filled with the version's number and the rank's, and restores each, until one took
  /// one exchange. If this machine stands still for a second between two of them, they take two.
  static void until_one_exchange(Session& session, int rank, std::vector<std::uint32_t>& memory, std::uint32_t& version,
                                 unsigned& exchanges) {
    unsigned taken = 2;
    for (const std::uint32_t last = version + 50; taken > 1 && version < last;) {
      const std::uint32_t content = 10 * ++version + static_cast<std::uint32_t>(rank);
      std::fill(memory.begin(), memory.end(), content);
      taken = exchanges_of(session, version, exchanges);
      expect_back(session, version, memory, content);
    }
    EXPECT_EQ(taken, 1U);
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
    std::vector<std::uint32_t> memory(1000, 10 + static_cast<std::uint32_t>(rank));
    ASSERT_TRUE(protect(session, memory));
    std::uint32_t version = 1;
    EXPECT_EQ(exchanges_of(session, version, exchanges), 2U);
    for (int times = 0; times < 3; ++times) until_one_exchange(session, rank, memory, version, exchanges);
    ASSERT_TRUE(session.wait("app", version, PERDURE_LEVEL_STORE, 60));
    expect_back(session, PERDURE_LATEST, memory, 10 * version + static_cast<std::uint32_t>(rank));
  });
}

// One rank has more now: the others' pieces are staged again, for the attempt of this call.
TEST_F(PiecesAhead, OfSomeRanksAreStagedWithTheOthersAgain) {
  for (const int large : {0, 3}) {
    more_ = "store.path=" + directory_.path() + "/store" + std::to_string(large);
    on_counted([large](Session& session, int rank, unsigned& exchanges) {
      std::vector<std::uint32_t> memory(1000);
      ASSERT_TRUE(protect(session, memory));
      std::uint32_t version = 0;
      until_one_exchange(session, rank, memory, version, exchanges);
      memory.assign(rank == large ? 100'000 : 1000, 7);
      ASSERT_TRUE(protect(session, memory));
      EXPECT_EQ(exchanges_of(session, ++version, exchanges), 2U);
      expect_back(session, version, memory, 7);
      memory.assign(1000, 0);
      ASSERT_TRUE(protect(session, memory));
      until_one_exchange(session, rank, memory, version, exchanges);
    });
  }
}

// This rank's attempt no longer holds. All ranks forget theirs, and are in step again.
TEST_F(PiecesAhead, OfARankThatWasAwayForLongAreStagedWithTheOthers) {
  constexpr std::int64_t kAwayNs = NextAttempt::kLastsNs + 1;
  on_counted([](Session& session, int rank, unsigned& exchanges) {
    std::vector<std::uint32_t> memory(1000);
    ASSERT_TRUE(protect(session, memory));
    std::uint32_t version = 0;
    until_one_exchange(session, rank, memory, version, exchanges);
    if (rank == 2) {
      ASSERT_TRUE(test_support::quiescent()) << "the others have looked at their clocks, and wait for this rank";
      os::shift_monotonic_clock(kAwayNs);
    }
    EXPECT_EQ(exchanges_of(session, ++version, exchanges), 2U);
    until_one_exchange(session, rank, memory, version, exchanges);
  });
  os::shift_monotonic_clock(-kAwayNs);
}

// Another handle's checkpoint is newer than the attempt that this one was told.
TEST_F(PiecesAhead, AreNoOlderThanWhatAnotherHandleWrote) {
  test_support::ThreadGroup group(ranks_);
  group.run([&](const perdure_communicator& c) {
    unsigned exchanges = 0;
    auto session = counted(c, exchanges);
    ASSERT_TRUE(session) << session.error().text();
    auto other = Session::open(comm::make_from_c(c).value(), options(more_).c_str());
    ASSERT_TRUE(other) << other.error().text();
    std::vector<std::uint32_t> memory(1000), others(1000, 5);
    ASSERT_TRUE(protect(**session, memory));
    ASSERT_TRUE(protect(**other, others));
    std::uint32_t version = 0;
    until_one_exchange(**session, c.rank, memory, version, exchanges);
    const auto taken = (*other)->checkpoint("app", ++version);
    ASSERT_TRUE(taken) << taken.error().text();
    EXPECT_EQ(exchanges_of(**session, ++version, exchanges), 2U);
    EXPECT_EQ((*session)->latest("app").value(), version);
    EXPECT_TRUE((*other)->close());
    EXPECT_TRUE((*session)->close());
  });
}

// Engines may have forgotten it: it is stored, and others took its slots.
TEST_F(PiecesAhead, AreNoOlderThanWhatEnginesHaveForgotten) {
  for (const bool newer : {false, true}) {
    more_ = "tier.order=memory;store.path=" + directory_.path() + "/store-" + std::to_string(newer);
    std::int64_t passed = 0;
    test_support::ThreadGroup group(ranks_);
    group.run([&](const perdure_communicator& c) {
      unsigned exchanges = 0;
      auto session = counted(c, exchanges);
      ASSERT_TRUE(session) << session.error().text();
      auto other = Session::open(comm::make_from_c(c).value(), options(more_).c_str());
      ASSERT_TRUE(other) << other.error().text();
      auto job = Job::open(comm::make_from_c(c).value(), options(more_).c_str());
      ASSERT_TRUE(job) << job.error().text();
      std::vector<std::uint32_t> memory(1000), others(1000);
      ASSERT_TRUE(protect(**session, memory));
      ASSERT_TRUE(protect(**other, others));
      std::uint32_t version = 0;
      until_one_exchange(**session, c.rank, memory, version, exchanges);
      ASSERT_TRUE((*job)->comm().barrier());
      EXPECT_LE(exchanges_of(**session, ++version, exchanges), 2U);  // after a restore it would begin a branch
      ASSERT_TRUE((*other)->restore("app", version, {})) << "else this one does";
      others.assign(500'000, 5);
      ASSERT_TRUE(protect(**other, others));
      const auto told = static_cast<std::int64_t>(os::monotonic_ns());
      const auto write = [&](const char* name, std::int64_t number) {
        const auto taken = (*other)->checkpoint(name, number);
        ASSERT_TRUE(taken) << taken.error().text();
        ASSERT_TRUE((*other)->wait(name, number, PERDURE_LEVEL_STORE, 60));
      };
      if (newer) write("app", ++version);
      const auto is_held = [&] {
        const auto all = (*job)->engine().inventory("app");
        EXPECT_TRUE(all);
        return !all->empty();
      };
      bool held = true;
      for (std::int64_t filler = 1; held && filler <= 40; ++filler) {
        write("filler", filler);
        held = on_any_rank((*job)->comm(), is_held()).value_or(true);
      }
      ASSERT_FALSE(held) << "it has to be forgotten";
      // Everything so far was a moment: an attempt does not last.
      if (c.rank == 0) os::shift_monotonic_clock(-(passed = static_cast<std::int64_t>(os::monotonic_ns()) - told));
      ASSERT_TRUE((*job)->comm().barrier());
      EXPECT_EQ(exchanges_of(**session, ++version, exchanges), newer ? 2U : 1U);
      EXPECT_EQ((*session)->latest("app").value(), version);
      EXPECT_TRUE((*other)->close());
      EXPECT_TRUE((*session)->close());
      ASSERT_TRUE((*job)->comm().barrier());
    });
    os::shift_monotonic_clock(passed);
  }
}

// Rank 0 finds leftovers of another writer in the store.
TEST_F(PiecesAhead, AreNoOlderThanWhatIsInTheStore) {
  test_support::ThreadGroup group(ranks_);
  group.run([&](const perdure_communicator& c) {
    unsigned exchanges = 0;
    auto session = counted(c, exchanges);
    ASSERT_TRUE(session) << session.error().text();
    auto job = Job::open(comm::make_from_c(c).value(), options(more_).c_str());
    ASSERT_TRUE(job) << job.error().text();
    std::vector<std::uint32_t> memory(1000);
    ASSERT_TRUE(protect(**session, memory));
    std::uint32_t version = 0;
    until_one_exchange(**session, c.rank, memory, version, exchanges);
    if (c.rank == 0) {
      const segment::VersionId left{"app", 1000, {os::wall_clock_ns(), plan::nonce_on(plan::kFirstBranch, 9)}};
      const auto store = store::make_store(directory_.path() + "/store").value();
      ASSERT_TRUE(test_support::write_segment(*store, test_support::sample_version(left, 2)[0]));
    }
    ASSERT_TRUE((*job)->comm().barrier());
    EXPECT_EQ(exchanges_of(**session, ++version, exchanges), 2U);
    EXPECT_TRUE((*session)->close());
    ASSERT_TRUE((*job)->comm().barrier());
  });
}

// They would be aborted in each call.
TEST_F(PiecesAhead, AreNotStagedInVainWhereOneRankAlwaysHasMore) {
  test_support::ThreadGroup group(ranks_);
  group.run([&](const perdure_communicator& c) {
    auto session = Session::open(comm::make_from_c(c).value(), options(more_).c_str());
    ASSERT_TRUE(session) << session.error().text();
    auto job = Job::open(comm::make_from_c(c).value(), options(more_).c_str());
    ASSERT_TRUE(job) << job.error().text();
    std::vector<std::uint32_t> memory(c.rank == 3 ? 100'000 : 1000, 7);
    ASSERT_TRUE(protect(**session, memory));
    for (std::int64_t version = 1; version <= 5; ++version) {
      const auto taken = (*session)->checkpoint("app", version);
      ASSERT_TRUE(taken) << taken.error().text();
    }
    const auto counted = (*job)->engine().channel().call(ipc::Metrics{});
    ASSERT_TRUE(counted) << counted.error().text();
    EXPECT_EQ(counted_as("perdure_checkpoints_committed_total", *counted), 5);
    EXPECT_EQ(counted_as("perdure_checkpoints_aborted_total", *counted), 0);
    EXPECT_TRUE((*session)->close());
    ASSERT_TRUE((*job)->comm().barrier());
  });
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
    expect_back(session, 5, memory, 2);
    std::uint32_t version = 5;
    until_one_exchange(session, rank, memory, version, exchanges);
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
    // Each rank has a version of its own: an abort concerns the whole version on the node.
    const segment::VersionId id{"app", 10 + job.rank(), {5, job.rank()}};
    PieceAhead piece(job, regions, places, id);
    EXPECT_EQ(held(id.version), 0);
    EXPECT_EQ(piece.stage().value().attempt, id.attempt);
    EXPECT_EQ(held(id.version), 1);
    piece.abort(true);
    EXPECT_EQ(held(id.version), 0);
    piece.abort(true);
    EXPECT_EQ(held(id.version), 0);
    {
      PieceAhead ended(job, regions, places, id);
      EXPECT_EQ(ended.stage().value().attempt, id.attempt);
    }
    EXPECT_EQ(held(id.version), 0);
  });
}

// A node's leader may be the only one to know that it has a part of it: its group does.
TEST_F(PiecesAhead, GoWhereTheirLeaderOnlyKnowsOfThem) {
  on_ranks([](Job& job) {
    std::vector<std::byte> memory(4096, std::byte{7});
    capture::RegionTable regions;
    ASSERT_TRUE(regions.protect({1, memory.data(), 1, memory.size()}));
    RegionPlaces places(job.config());
    const auto held = [&] {
      const auto all = job.engine().inventory("app");
      EXPECT_TRUE(all);
      return all->size();
    };
    const segment::VersionId id{"app", 1, {5, 0}};
    PieceAhead piece(job, regions, places, id);
    if (job.leads()) piece.leave_out();
    EXPECT_EQ(piece.stage().has_value(), !job.leads());
    ASSERT_TRUE(job.comm().barrier());
    EXPECT_EQ(held(), 1U);
    ASSERT_TRUE(job.comm().barrier());
    if (job.leads()) piece.abort(false);
    EXPECT_EQ(held(), 1U) << "none has staged, as far as it is told";
    ASSERT_TRUE(job.comm().barrier());
    if (job.leads()) piece.abort(true);
    ASSERT_TRUE(job.comm().barrier());
    EXPECT_EQ(held(), 0U);
  });
}

// Rank 0 has all of the tier, and may give it back: a rank that asks as usual waits for that.
TEST_F(PiecesAhead, DoNotWaitForRoom) {
  ranks_ = per_node_ = 2;
  more_ = "tier.order=memory";  // chunks of 16 MiB
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

/// Records the calls that the opening makes to it: its result, and an abort.
class ToldPiece : public AheadOfOpening {
 public:
  explicit ToldPiece(std::optional<segment::Attempt> attempt) : attempt_(attempt) {}
  std::optional<Piece> stage() override {
    ++staged;
    return attempt_ ? std::optional(Piece{*attempt_, busy}) : std::nullopt;
  }
  void abort(bool any) override {
    ++aborted;
    any_staged = any;
  }
  int staged = 0, aborted = 0;
  bool any_staged = false, busy = false;

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
    EXPECT_EQ(opened->ahead, StagedAhead::by_all);
    EXPECT_EQ(opened->attempt, attempt);
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
      EXPECT_NE(some->ahead, StagedAhead::by_all);
      EXPECT_NE(some->attempt, attempt);
      EXPECT_EQ(other.aborted, 1);
      EXPECT_EQ(other.any_staged, &of != &otherwise.back());
    }
    // A rank that knows of no attempt has forgotten its own: it hears that others did not.
    ToldPiece others(attempt);
    const auto one_without = job.begin(opening, {}, job.rank() == 2 ? nullptr : &others);
    ASSERT_TRUE(one_without);
    EXPECT_EQ(one_without->ahead, StagedAhead::by_some);
    EXPECT_EQ(others.aborted, job.rank() == 2 ? 0 : 1);
    const auto without = job.begin(opening, {});
    ASSERT_TRUE(without);
    EXPECT_EQ(without->ahead, StagedAhead::not_told);

    ToldPiece unready(attempt);
    const base::Status mine = job.rank() == 1 ? base::Status(base::fail(PERDURE_IO, "x", "y")) : base::Status();
    EXPECT_FALSE(job.begin(opening, mine, &unready));
    EXPECT_EQ(unready.aborted, 1);
    EXPECT_EQ(unready.staged, job.rank() == 1 ? 0 : 1);

    ToldPiece lost(attempt);
    if (job.rank() == 3) job.engine().channel().close();
    const auto attached = job.begin(opening, {}, &lost);
    ASSERT_TRUE(attached);
    EXPECT_NE(attached->ahead, StagedAhead::by_all);
    EXPECT_EQ(lost.aborted, 1);
  });
}

}  // namespace
}  // namespace perdure::client
