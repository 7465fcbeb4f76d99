// All ranks get the same answer from an agreement, whatever each of them brings. Ranks are threads here.
#include "client/agreement.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "support/thread_group.hpp"

namespace perdure::client {
namespace {

using test_support::ThreadGroup;

constexpr int kRanks = 4;

template <class Outcome>
std::vector<Outcome> on_all(const std::function<Outcome(comm::Communicator&)>& call) {
  ThreadGroup group(kRanks);
  std::vector<std::optional<Outcome>> found(kRanks);
  group.run([&](const perdure_communicator& c) {
    auto comm = comm::make_from_c(c).value();
    found[static_cast<std::size_t>(c.rank)] = call(*comm);
  });
  std::vector<Outcome> outcomes;
  for (auto& outcome : found) outcomes.push_back(std::move(*outcome));
  return outcomes;
}

base::Status failed(base::ErrorCode code) { return base::fail(code, "rank's own object", "its own cause"); }

TEST(Agree, SucceedsWhenEveryRankDoes) {
  for (const auto& outcome : on_all<base::Status>([](comm::Communicator& comm) { return agree(comm, {}); }))
    EXPECT_TRUE(outcome);
}

TEST(Agree, AFailureOfOneIsAFailureOfAllAndNamesIt) {
  for (int bad = 0; bad < kRanks; ++bad) {
    const auto outcomes = on_all<base::Status>([&](comm::Communicator& comm) {
      return agree(comm, comm.rank() == bad ? failed(PERDURE_NO_SPACE) : base::Status());
    });
    for (int rank = 0; rank < kRanks; ++rank) {
      const auto& outcome = outcomes[static_cast<std::size_t>(rank)];
      ASSERT_FALSE(outcome);
      if (rank == bad) {
        EXPECT_EQ(outcome.error().code, PERDURE_NO_SPACE);
        EXPECT_EQ(outcome.error().object, "rank's own object");
        continue;
      }
      EXPECT_EQ(outcome.error().code, PERDURE_PEER_FAILED);
      EXPECT_NE(outcome.error().text().find("rank " + std::to_string(bad) + " failed: no-space"), std::string::npos)
          << outcome.error().text();
    }
  }
}

TEST(Agree, OfSeveralFailuresTheLowestRanksIsNamed) {
  const auto outcomes = on_all<base::Status>([](comm::Communicator& comm) {
    return agree(comm, comm.rank() >= 2 ? failed(comm.rank() == 2 ? PERDURE_IO : PERDURE_INTERNAL) : base::Status());
  });
  for (std::size_t rank : {0U, 1U})
    EXPECT_NE(outcomes[rank].error().text().find("rank 2 failed"), std::string::npos) << outcomes[rank].error().text();
  EXPECT_EQ(outcomes[3].error().code, PERDURE_INTERNAL) << "a rank that failed keeps its own error";
}

TEST(Agree, AFailureThatMayPassIsRetryableOnAllRanks) {
  const auto outcomes = on_all<base::Status>([](comm::Communicator& comm) {
    return agree(comm, comm.rank() == 1 ? failed(PERDURE_UNAVAILABLE) : base::Status());
  });
  EXPECT_TRUE(outcomes[0].error().retryable);
}

using MaybeOpened = base::Result<Opened>;

Opening checkpoint_of(const std::string& name, std::int64_t version) {
  Opening opening;
  opening.operation = Operation::checkpoint;
  opening.name = name;
  opening.version = version;
  return opening;
}

TEST(OpenCollective, GivesEveryRankTheWordsOfTheRoot) {
  const auto outcomes = on_all<MaybeOpened>([](comm::Communicator& comm) {
    Opening opening = checkpoint_of("nbody", 7);
    opening.attempt = {100 + static_cast<std::uint64_t>(comm.rank()), 5};
    return open_collective(comm, opening, {});
  });
  for (const auto& opened : outcomes) {
    ASSERT_TRUE(opened);
    EXPECT_EQ(opened->attempt, (segment::Attempt{100, 5}));
    EXPECT_FALSE(opened->any_engine_lost);
  }
}

TEST(OpenCollective, ALostEngineOfOneRankIsKnownToAll) {
  const auto outcomes = on_all<MaybeOpened>([](comm::Communicator& comm) {
    Opening opening = checkpoint_of("nbody", 7);
    opening.engine_lost = comm.rank() == 2;
    return open_collective(comm, opening, {});
  });
  for (const auto& opened : outcomes) EXPECT_TRUE(opened && opened->any_engine_lost);
}

TEST(OpenCollective, RanksThatCallDifferentlyAllGetAMismatch) {
  const std::vector<std::function<void(Opening&)>> differences = {
      [](Opening& o) { o.operation = Operation::restore; }, [](Opening& o) { o.name = "heat"; },
      [](Opening& o) { o.version = 8; }, [](Opening& o) { o.detail = 3; }};
  for (const auto& differ : differences)
    for (int bad = 0; bad < kRanks; ++bad) {
      const auto outcomes = on_all<MaybeOpened>([&](comm::Communicator& comm) {
        Opening opening = checkpoint_of("nbody", 7);
        if (comm.rank() == bad) differ(opening);
        return open_collective(comm, opening, {});
      });
      for (const auto& opened : outcomes) {
        ASSERT_FALSE(opened);
        EXPECT_EQ(opened.error().code, PERDURE_MISMATCH);
        EXPECT_NE(opened.error().remedy, "");
      }
    }
}

TEST(OpenCollective, AMismatchSaysWhatTheTwoRanksCalled) {
  const auto outcomes = on_all<MaybeOpened>([](comm::Communicator& comm) {
    return open_collective(comm, checkpoint_of("nbody", comm.rank() == 3 ? 9 : 7), {});
  });
  const std::string text = outcomes[1].error().text();
  EXPECT_NE(text.find("checkpoint of version 7 and checkpoint of version 9"), std::string::npos) << text;
  EXPECT_NE(text.find("rank 3"), std::string::npos) << text;
}

TEST(OpenCollective, ARankThatCannotBeginStopsAllOfThem) {
  const auto outcomes = on_all<MaybeOpened>([](comm::Communicator& comm) {
    return open_collective(comm, checkpoint_of("nbody", 7), comm.rank() == 1 ? failed(PERDURE_EXISTS) : base::Status());
  });
  EXPECT_EQ(outcomes[1].error().code, PERDURE_EXISTS);
  for (std::size_t rank : {0U, 2U, 3U}) EXPECT_EQ(outcomes[rank].error().code, PERDURE_PEER_FAILED);
}

TEST(OpenCollective, AtTheLevelIsWhatAllRanksBringOfTheSameList) {
  const auto bits = [](std::uint32_t list_of_rank_2) {
    const auto outcomes = on_all<MaybeOpened>([&](comm::Communicator& comm) {
      Opening opening = checkpoint_of("nbody", 7);
      opening.node_level_list = comm.rank() == 2 ? list_of_rank_2 : 5;
      if (comm.rank() == 0) opening.node_level_bits = 0b1011;
      if (comm.rank() == 2) opening.node_level_bits = 0b1101;
      return open_collective(comm, opening, {});
    });
    std::vector<std::uint64_t> all;
    for (const auto& opened : outcomes) all.push_back(opened->node_level_bits);
    return all;
  };
  EXPECT_EQ(bits(5), std::vector<std::uint64_t>(kRanks, 0b1001));
  EXPECT_EQ(bits(6), std::vector<std::uint64_t>(kRanks, 0)) << "the bits of rank 2 mean others";
}

TEST(OpenCollective, ReasonsOfAnyRankAreReasonsOfAll) {
  const auto outcomes = on_all<base::Result<Opened>>([](comm::Communicator& comm) {
    Opening opening;
    opening.operation = Operation::due;
    if (comm.rank() == 1) opening.due = 1;
    if (comm.rank() == 3) opening.due = 128 + 2;
    return open_collective(comm, opening, {});
  });
  for (const auto& opened : outcomes) {
    ASSERT_TRUE(opened);
    EXPECT_EQ(opened->due, 131U);
    EXPECT_FALSE(opened->any_here);
  }
}

TEST(AgreeOn, HoldsOnlyWhereAllSpeakOfTheSame) {
  for (const std::uint64_t other : {7U, 8U}) {
    const auto outcomes = on_all<base::Result<bool>>(
        [&](comm::Communicator& comm) { return agree_on(comm, {}, true, comm.rank() == 1 ? other : 7); });
    for (const auto& outcome : outcomes) EXPECT_EQ(outcome.value(), other == 7);
  }
}

TEST(AgreeOn, HoldsWhereItHoldsOnAllRanks) {
  for (const int without : {-1, 0, 3}) {
    const auto outcomes = on_all<base::Result<bool>>(
        [&](comm::Communicator& comm) { return agree_on(comm, {}, comm.rank() != without); });
    for (const auto& outcome : outcomes) {
      ASSERT_TRUE(outcome) << outcome.error().text();
      EXPECT_EQ(*outcome, without < 0);
    }
  }
}

TEST(AgreeOn, OfTwoThingsEachHoldsWhereItHoldsOnAllRanks) {
  for (const bool first : {false, true})
    for (const bool second : {false, true}) {
      const auto outcomes = on_all<base::Result<HeldByAll>>([&](comm::Communicator& comm) {
        return agree_on_both(comm, {}, {first || comm.rank() != 1, second || comm.rank() != 2});
      });
      for (const auto& outcome : outcomes) {
        EXPECT_EQ(outcome.value().first, first);
        EXPECT_EQ(outcome.value().second, second);
      }
    }
}

TEST(AgreeOn, AFailureIsSaidWhateverHolds) {
  const auto outcomes = on_all<base::Result<bool>>([](comm::Communicator& comm) {
    return agree_on(comm, comm.rank() == 1 ? failed(PERDURE_IO) : base::Status(), comm.rank() != 2);
  });
  EXPECT_EQ(outcomes[1].error().code, PERDURE_IO);
  for (std::size_t rank : {0U, 2U, 3U}) EXPECT_EQ(outcomes[rank].error().code, PERDURE_PEER_FAILED);
}

TEST(OpenCollective, AGroupThatIsBrokenIsAFailedPeer) {
  ThreadGroup group(2);
  group.break_down();
  auto comm = comm::make_from_c(group.rank(0)).value();
  EXPECT_EQ(open_collective(*comm, checkpoint_of("nbody", 1), {}).error().code, PERDURE_PEER_FAILED);
  EXPECT_EQ(agree(*comm, {}).error().code, PERDURE_PEER_FAILED);
}

TEST(OperationName, IsThereForEveryOperation) {
  for (std::uint32_t i = 1; i <= static_cast<std::uint32_t>(Operation::meet); ++i)
    EXPECT_STRNE(operation_name(static_cast<Operation>(i)), "unknown call");
  EXPECT_STREQ(operation_name(static_cast<Operation>(99)), "unknown call");
}

}  // namespace
}  // namespace perdure::client
