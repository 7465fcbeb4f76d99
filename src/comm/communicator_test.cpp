#include "comm/communicator.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "comm/counting_testing.hpp"
#include "support/thread_group.hpp"

namespace perdure::comm {
namespace {

using test_support::ThreadGroup;

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto span = base::as_bytes(text);
  return {span.begin(), span.end()};
}

/// Every member must pass this; called by all ranks of its group.
void expect_conforms(Communicator& comm) {
  const auto size = static_cast<std::uint64_t>(comm.size());
  const auto rank = static_cast<std::uint64_t>(comm.rank());
  ASSERT_TRUE(comm.barrier());

  std::vector<std::uint64_t> values = {rank, 100 - rank, 1, ~0ULL};
  ASSERT_TRUE(comm.allreduce(values, Reduce::minimum));
  EXPECT_EQ(values, (std::vector<std::uint64_t>{0, 101 - size, 1, ~0ULL}));
  values = {rank, 100 - rank};
  ASSERT_TRUE(comm.allreduce(values, Reduce::maximum));
  EXPECT_EQ(values, (std::vector<std::uint64_t>{size - 1, 100}));
  values = {rank, 1};
  ASSERT_TRUE(comm.allreduce(values, Reduce::sum));
  EXPECT_EQ(values, (std::vector<std::uint64_t>{size * (size - 1) / 2, size}));
  ASSERT_TRUE(comm.allreduce({}, Reduce::sum));

  std::vector<std::uint64_t> all(size);
  const std::uint64_t mine = rank * 7;
  ASSERT_TRUE(comm.allgather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all))));
  for (std::uint64_t r = 0; r < size; ++r) EXPECT_EQ(all[r], r * 7);
  ASSERT_TRUE(comm.allgather({}, {}));
  std::vector<std::byte> room(size * 8 + 1);
  EXPECT_EQ(comm.allgather(std::as_bytes(std::span(&mine, 1)), room).error().code, PERDURE_INVALID_ARGUMENT);

  for (int root = 0; root < comm.size(); ++root) {
    std::uint64_t value = comm.rank() == root ? 42U + static_cast<std::uint64_t>(root) : 0;
    ASSERT_TRUE(comm.broadcast(std::as_writable_bytes(std::span(&value, 1)), root));
    EXPECT_EQ(value, 42U + static_cast<std::uint64_t>(root));
  }
  EXPECT_EQ(comm.broadcast({}, comm.size()).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(comm.broadcast({}, -1).error().code, PERDURE_INVALID_ARGUMENT);
}

void expect_helpers_work(Communicator& comm) {
  const std::string mine(static_cast<std::size_t>(comm.rank()) * 1000, static_cast<char>('a' + comm.rank()));
  auto all = allgather_bytes(comm, base::as_bytes(mine));
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), static_cast<std::size_t>(comm.size()));
  for (std::size_t r = 0; r < all->size(); ++r)
    EXPECT_EQ((*all)[r], bytes_of(std::string(r * 1000, static_cast<char>('a' + r))));
  auto none = allgather_bytes(comm, {});
  ASSERT_TRUE(none);
  for (const auto& each : *none) EXPECT_TRUE(each.empty());
  const int root = comm.size() - 1;
  auto received = broadcast_bytes(comm, base::as_bytes(comm.rank() == root ? "from the root" : "ignored"), root);
  ASSERT_TRUE(received);
  EXPECT_EQ(*received, bytes_of("from the root"));
  EXPECT_TRUE(broadcast_bytes(comm, {}, 0)->empty());
}

// Whoever has much, and however little the others have: in one collective, and the same on all ranks.
TEST(AllgatherKnown, IsOneCollectiveForAnyLengths) {
  constexpr int kRanks = 5;
  for (int talker = 0; talker < kRanks; ++talker)
    for (std::uint64_t most : {0U, 1U, 7U, 8U, 9U, 5000U})
      for (std::uint64_t others : {0U, 3U}) {
        ThreadGroup group(kRanks);
        group.run([&](const perdure_communicator& c) {
          unsigned count = 0;
          CountingCommunicator comm(make_from_c(c).value(), count);
          std::vector<std::uint64_t> lengths(kRanks, others);
          lengths[static_cast<std::size_t>(talker)] = most;
          const auto text = [&](int rank) {
            return std::string(lengths[static_cast<std::size_t>(rank)], static_cast<char>('a' + rank));
          };
          const auto all = allgather_known(comm, base::as_bytes(text(c.rank)), lengths);
          ASSERT_TRUE(all);
          ASSERT_EQ(all->size(), lengths.size());
          for (int rank = 0; rank < kRanks; ++rank)
            EXPECT_EQ((*all)[static_cast<std::size_t>(rank)], bytes_of(text(rank)));
          EXPECT_LE(count, 1U);
        });
      }
}

TEST(Solo, ConformsAsAGroupOfOne) {
  auto comm = make_solo();
  EXPECT_EQ(comm->rank(), 0);
  EXPECT_EQ(comm->size(), 1);
  expect_conforms(*comm);
  expect_helpers_work(*comm);
}

class FromCOfSize : public testing::TestWithParam<int> {};

TEST_P(FromCOfSize, ConformsAndReleasesEveryRankOnce) {
  ThreadGroup group(GetParam());
  group.run([](const perdure_communicator& c) {
    auto comm = make_from_c(c);
    ASSERT_TRUE(comm);
    expect_conforms(**comm);
    expect_helpers_work(**comm);
  });
  EXPECT_EQ(group.released(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Sizes, FromCOfSize, testing::Values(1, 2, 3, 4, 8));

TEST(FromC, ReportsABrokenGroupAsAFailedPeer) {
  ThreadGroup group(1);
  auto comm = make_from_c(group.rank(0)).value();
  group.break_down();
  std::uint64_t value = 1;
  const auto bytes = std::as_writable_bytes(std::span(&value, 1));
  std::vector<std::byte> all(8);
  for (const base::Status& status : {comm->barrier(), comm->allreduce(std::span(&value, 1), Reduce::sum),
                                     comm->allgather(bytes, all), comm->broadcast(bytes, 0)}) {
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, PERDURE_PEER_FAILED);
    EXPECT_FALSE(status.error().retryable);
  }
  EXPECT_EQ(allgather_bytes(*comm, bytes).error().code, PERDURE_PEER_FAILED);
  EXPECT_EQ(broadcast_bytes(*comm, bytes, 0).error().code, PERDURE_PEER_FAILED);
}

TEST(FromC, DoesWithoutARelease) {
  ThreadGroup group(1);
  perdure_communicator c = group.rank(0);
  c.release = nullptr;
  EXPECT_TRUE(make_from_c(c).value()->barrier());
}

TEST(FromC, RefusesAMissingFunctionAndReleasesNothing) {
  ThreadGroup group(1);
  const perdure_communicator good = group.rank(0);
  std::vector<perdure_communicator> bad(4, good);
  bad[0].barrier = nullptr;
  bad[1].allreduce = nullptr;
  bad[2].allgather = nullptr;
  bad[3].broadcast = nullptr;
  for (const perdure_communicator& c : bad) {
    auto comm = make_from_c(c);
    ASSERT_FALSE(comm);
    EXPECT_EQ(comm.error().code, PERDURE_INVALID_ARGUMENT);
    EXPECT_NE(comm.error().cause.find("is NULL"), std::string::npos);
  }
  EXPECT_EQ(group.released(), 0);
}

TEST(FromC, RefusesAnImpossibleRankOrSize) {
  ThreadGroup group(1);
  for (const auto& [rank, size] : std::vector<std::pair<int, int>>{{0, 0}, {0, -1}, {-1, 4}, {4, 4}, {5, 4}}) {
    perdure_communicator c = group.rank(0);
    c.rank = rank;
    c.size = size;
    EXPECT_EQ(make_from_c(c).error().code, PERDURE_INVALID_ARGUMENT);
  }
}

}  // namespace
}  // namespace perdure::comm
