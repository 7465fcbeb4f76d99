#include "comm/patience.hpp"

#include <gtest/gtest.h>

#include <set>

#include "comm/communicator.hpp"

namespace perdure::comm {
namespace {

std::string text_of(std::initializer_list<std::size_t> list) {
  const std::set<std::size_t> ranks(list);
  return ranks_text(100, [&](std::size_t rank) { return ranks.contains(rank); });
}

TEST(TextOfRanks, HasRunsAndHowManyMoreThereAre) {
  EXPECT_EQ(text_of({}), "no rank");
  EXPECT_EQ(text_of({3}), "rank 3");
  EXPECT_EQ(text_of({0, 1}), "ranks 0-1");
  EXPECT_EQ(text_of({0, 2, 3, 4, 9}), "ranks 0, 2-4 and 9");
  EXPECT_EQ(text_of({99}), "rank 99");
  EXPECT_EQ(text_of({0, 2, 4, 6, 8, 10, 12, 14}), "ranks 0, 2, 4, 6, 8, 10, 12 and 14");
  EXPECT_EQ(text_of({0, 2, 4, 6, 8, 10, 12, 14, 16, 17}), "ranks 0, 2, 4, 6, 8, 10, 12, 14 and 2 more");
}

TEST(TextOfRanks, SaysWhoHasComeAndWhoHasNot) {
  const unsigned char came[] = {1, 0, 1, 1};
  EXPECT_EQ(came_text(4, [&](std::size_t rank) { return came[rank] != 0; }),
            "ranks 0 and 2-3 have come; rank 1 has not");
  EXPECT_EQ(came_text(2, [&](std::size_t rank) { return came[rank] != 0; }), "rank 0 has come; rank 1 has not");
  EXPECT_EQ(came_text(3, [](std::size_t rank) { return rank == 1; }), "rank 1 has come; ranks 0 and 2 have not");
}

// A group whose ranks do not come, as soon as it may say so.
struct Lonely {
  static int barrier(void*) { return 1; }
  static int allreduce(void* seconds, std::uint64_t*, std::size_t, int) {
    *static_cast<double*>(seconds) = Patience::seconds();
    if (Patience::seconds() > 0) Patience::end("rank 0 has come; rank 1 has not");
    return 1;
  }
  static int allgather(void*, const void*, std::size_t, void*) { return 1; }
  static int broadcast(void*, void*, std::size_t, int) { return 1; }
};

TEST(Patience, IsOfOneThreadAndWhatEndsItIsTheErrorsText) {
  double seconds = -1;
  const perdure_communicator c{
      0, 2, &seconds, Lonely::barrier, Lonely::allreduce, Lonely::allgather, Lonely::broadcast, nullptr};
  const auto comm = make_from_c(c).value();
  std::uint64_t values[1] = {};
  {
    const Patience some(2.5);
    const auto late = comm->allreduce(values, Reduce::maximum);
    EXPECT_EQ(seconds, 2.5);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, PERDURE_TIMEOUT);
    EXPECT_NE(late.error().cause.find("rank 0 has come; rank 1 has not"), std::string::npos);
    EXPECT_EQ(comm->barrier().error().code, PERDURE_PEER_FAILED) << "it is said once";
  }
  EXPECT_EQ(comm->allreduce(values, Reduce::maximum).error().code, PERDURE_PEER_FAILED);
  EXPECT_EQ(seconds, 0);
}

}  // namespace
}  // namespace perdure::comm
