// One rank cannot go on at some point of a collective call. All ranks leave the call, and the next call finds them in
// step. Ranks are threads here.
#include "client/exchanges.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "client/agreement.hpp"
#include "comm/counting_testing.hpp"
#include "support/thread_group.hpp"

namespace perdure::client {
namespace {

using test_support::ThreadGroup;

constexpr int kInStep = 3;
constexpr int kSteps = 8;

/// A call with an exchange of each kind. This rank throws before step `thrown_at`.
base::Result<std::string> call_of_all(Exchanges& exchanges, int thrown_at) {
  int step = 0;
  const auto next = [&] {
    if (step++ == thrown_at) throw std::bad_alloc();
  };
  return exchanges.call([&]() -> base::Result<std::string> {
    next();
    PERDURE_TRY(const auto opened, open_collective(exchanges, {Operation::restore, "app", 7}, {}));
    next();
    const std::string mine(1000 * static_cast<std::size_t>(exchanges.rank()),
                           static_cast<char>('a' + exchanges.rank()));
    const auto rank = static_cast<std::size_t>(exchanges.rank());
    std::size_t last = 0;
    PERDURE_CHECK(comm::tell_all(exchanges, {kInStep, rank}, base::as_bytes(mine), [&](std::size_t, auto bytes) {
      last = bytes.size();
      return base::Status();
    }));
    next();
    PERDURE_CHECK(agree(exchanges, {}));
    next();
    PERDURE_TRY(const auto told,
                comm::broadcast_bytes(exchanges, base::as_bytes(std::string("of the last")), kInStep - 1));
    next();
    std::uint64_t least = static_cast<std::uint64_t>(exchanges.rank()) + 5;
    PERDURE_CHECK(exchanges.allreduce(std::span(&least, 1), comm::Reduce::minimum));
    next();
    PERDURE_TRY(const bool any, on_any_rank(exchanges, exchanges.rank() == 1));
    next();
    PERDURE_CHECK(exchanges.barrier());
    next();
    std::string text(reinterpret_cast<const char*>(told.data()), told.size());
    return text + " " + std::to_string(least) + (any ? " any " : " none ") + std::to_string(last);
  });
}

TEST(Exchanges, WhoCannotGoOnLeavesTheCallAndAllOthersWithItAndTheNextCallWorks) {
  for (int failing = 0; failing < kInStep; ++failing)
    for (int step = 0; step < kSteps; ++step) {
      ThreadGroup group(kInStep);
      group.run([&](const perdure_communicator& c) {
        Exchanges exchanges(comm::make_from_c(c).value());
        const auto failed = call_of_all(exchanges, c.rank == failing ? step : -1);
        ASSERT_FALSE(failed) << "rank " << c.rank << ", rank " << failing << " at step " << step;
        EXPECT_EQ(failed.error().code, c.rank == failing ? PERDURE_NO_SPACE : PERDURE_PEER_FAILED);
        if (c.rank != failing) {
          EXPECT_NE(failed.error().text().find("rank " + std::to_string(failing)), std::string::npos);
        }
        const auto works = call_of_all(exchanges, -1);
        ASSERT_TRUE(works) << works.error().text();
        EXPECT_EQ(*works, "of the last 5 any 2000");
      });
    }
}

// Rank 0, whose words all ranks take, does not know its own call. The others tell of leaders, too, and call the same or
// not.
TEST(Exchanges, WhoCannotBeginIsLeftOutOfWhatHasToBeTheSame) {
  for (const std::int64_t other : {7, 8})
    for (int failing = 0; failing < kInStep; ++failing) {
      ThreadGroup group(kInStep);
      group.run([&](const perdure_communicator& c) {
        Exchanges exchanges(comm::make_from_c(c).value());
        exchanges.expect_leaders(kInStep);
        Opening opening{Operation::restore, "app", c.rank == 1 ? other : 7};
        opening.leader = {kInStep, static_cast<std::size_t>(c.rank)};
        opening.bytes = 5;
        const auto begin = [&](bool throws) {
          return exchanges.call([&]() -> base::Status {
            if (throws) throw std::bad_alloc();
            PERDURE_TRY(const auto opened, open_collective(exchanges, opening, {}));
            EXPECT_EQ(opened.bytes, std::vector<std::uint64_t>(kInStep, 5));
            return {};
          });
        };
        const auto failed = begin(c.rank == failing);
        ASSERT_FALSE(failed);
        EXPECT_EQ(failed.error().code, c.rank == failing ? PERDURE_NO_SPACE : PERDURE_PEER_FAILED);
        const auto next = begin(false);
        EXPECT_EQ(next ? PERDURE_OK : next.error().code, other == 7 ? PERDURE_OK : PERDURE_MISMATCH);
      });
    }
}

TEST(Exchanges, WhoseOwnErrorAllHaveAgreedOnAreInStepAsWell) {
  ThreadGroup group(kInStep);
  group.run([&](const perdure_communicator& c) {
    Exchanges exchanges(comm::make_from_c(c).value());
    const auto failed = exchanges.call([&]() -> base::Status {
      PERDURE_TRY(const auto opened, open_collective(exchanges, {Operation::wait, "app", 7}, {}));
      return agree(exchanges, c.rank == 1 ? base::Status(base::fail(PERDURE_IO, "x", "broken")) : base::Status());
    });
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, c.rank == 1 ? PERDURE_IO : PERDURE_PEER_FAILED);
    EXPECT_TRUE(call_of_all(exchanges, -1));
  });
}

/// A communicator of one rank that breaks at its third exchange.
class Broken : public comm::Communicator {
 public:
  explicit Broken(unsigned& count) : count_(count) {}
  int rank() const override { return 0; }
  int size() const override { return 1; }
  base::Status barrier() override { return next(); }
  base::Status allreduce(std::span<std::uint64_t>, comm::Reduce) override { return next(); }
  base::Status allgather(base::ConstByteSpan mine, base::ByteSpan all) override {
    std::copy(mine.begin(), mine.end(), all.begin());
    return next();
  }
  base::Status broadcast(base::ByteSpan, int) override { return next(); }

 private:
  base::Status next() {
    return ++count_ < 3 ? base::Status() : base::Status(base::fail(PERDURE_PEER_FAILED, "allreduce", "status 5"));
  }
  unsigned& count_;
};

TEST(Exchanges, OfAGroupThatIsBrokenAreNoMoreMadeInTheCall) {
  unsigned count = 0;
  Exchanges exchanges(std::make_unique<Broken>(count));
  const auto failed = exchanges.call([&]() -> base::Status {
    PERDURE_TRY(const auto opened, open_collective(exchanges, {Operation::wait, "app", 7}, {}));
    PERDURE_CHECK(agree(exchanges, {}));
    const base::Status third = agree(exchanges, {});
    EXPECT_FALSE(third);
    EXPECT_FALSE(comm::broadcast_bytes(exchanges, {}, 0));
    return third;
  });
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().text().find("status 5"), std::string::npos) << failed.error().text();
  EXPECT_EQ(count, 3U);
}

// A checkpoint must add no exchange: it has an opening and an agreement.
TEST(Exchanges, AnAgreementCostsNothingMoreAndNeitherDoesTheEndOfACallThatSaysSo) {
  ThreadGroup group(kInStep);
  group.run([&](const perdure_communicator& c) {
    unsigned count = 0;
    Exchanges exchanges(std::make_unique<comm::CountingCommunicator>(comm::make_from_c(c).value(), count));
    const auto done = exchanges.call([&]() -> base::Status {
      PERDURE_TRY(const auto opened, open_collective(exchanges, {Operation::checkpoint, "app", 7}, {}));
      PERDURE_CHECK(agree(exchanges, {}));
      exchanges.last();
      return {};
    });
    EXPECT_TRUE(done);
    EXPECT_EQ(count, 2U);
  });
}

}  // namespace
}  // namespace perdure::client
