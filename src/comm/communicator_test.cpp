#include "comm/communicator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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

/// Every member must pass this; all ranks of its group call it.
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
  const auto size = static_cast<std::size_t>(comm.size());
  const auto said_by = [](std::size_t speaker) {
    return std::string(speaker * 1000, static_cast<char>('a' + speaker));
  };
  const auto rank = static_cast<std::size_t>(comm.rank());
  std::vector<std::size_t> heard;
  ASSERT_TRUE(tell_all(comm, {size, rank}, base::as_bytes(said_by(rank)), [&](std::size_t speaker, auto bytes) {
    heard.push_back(speaker);
    EXPECT_EQ(std::vector(bytes.begin(), bytes.end()), bytes_of(said_by(speaker)));
    return base::Status();
  }));
  EXPECT_EQ(heard.size(), size - 1) << "who says nothing is not heard";
  EXPECT_TRUE(std::is_sorted(heard.begin(), heard.end()));
  const int root = comm.size() - 1;
  auto received = broadcast_bytes(comm, base::as_bytes(comm.rank() == root ? "from the root" : "ignored"), root);
  ASSERT_TRUE(received);
  EXPECT_EQ(*received, bytes_of("from the root"));
  EXPECT_TRUE(broadcast_bytes(comm, {}, 0)->empty());
}

// However long the strings are, there are as many collectives as slices. The result is the same on all ranks, including
// those without a string.
TEST(TellAll, IsOneCollectiveForEachSlice) {
  constexpr int kRanks = 5;
  for (std::size_t talker = 0; talker < 3; ++talker)
    for (const std::uint64_t most : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{9},
                                     std::uint64_t{kSliceBytes}, std::uint64_t{2 * kSliceBytes + 5}})
      for (std::uint64_t others : {0U, 3U}) {
        ThreadGroup group(kRanks);
        group.run([&](const perdure_communicator& c) {
          unsigned count = 0;
          CountingCommunicator comm(make_from_c(c).value(), count);
          std::vector<std::uint64_t> lengths(3, others);
          lengths[talker] = most;
          const auto text = [&](std::size_t speaker) {
            return std::string(lengths[speaker], static_cast<char>('a' + speaker));
          };
          // Ranks 1, 3 and 4 are the speakers.
          const std::optional<std::size_t> numbers[] = {std::nullopt, 0, std::nullopt, 1, 2};
          const Speaker speaker{3, numbers[c.rank]};
          const std::string mine = speaker.number ? text(*speaker.number) : "not to be heard";
          std::vector<std::string> heard(3);
          ASSERT_TRUE(tell_all(comm, speaker, base::as_bytes(mine), lengths, [&](std::size_t from, auto bytes) {
            heard[from].assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
            return base::Status();
          }));
          for (std::size_t from = 0; from < 3; ++from) EXPECT_TRUE(heard[from] == text(from)) << from;
          std::uint64_t padded = 0;
          for (const std::uint64_t length : lengths) padded += (length + 7) / 8 * 8;
          EXPECT_EQ(count, (padded + kSliceBytes - 1) / kSliceBytes);
        });
      }
}

TEST(TellAll, ARankThatCannotTakeItDoesNotStopTheOthers) {
  ThreadGroup group(3);
  group.run([&](const perdure_communicator& c) {
    auto comm = make_from_c(c).value();
    const std::string mine(2 * kSliceBytes, 'x');
    const auto rank = static_cast<std::size_t>(c.rank);
    const auto status = tell_all(*comm, {3, rank}, base::as_bytes(mine), [&](std::size_t, auto) -> base::Status {
      if (rank == 1) return base::fail(PERDURE_CORRUPT, "what was told", "this rank cannot read it");
      return {};
    });
    EXPECT_EQ(status.has_value(), rank != 1);
    EXPECT_TRUE(comm->barrier());
  });
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
  EXPECT_EQ(tell_all(*comm, {1, 0}, bytes, {}).error().code, PERDURE_PEER_FAILED);
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
