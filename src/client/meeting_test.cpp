// Ranks meet at one place. They tell whether one of them wants something, and which ones are elsewhere.
#include "client/meeting.hpp"

#include <gmock/gmock.h>

#include "client/ranks_testing.hpp"

namespace perdure::client {
namespace {

using testing::HasSubstr;

using Meetings = JobOfThreads;

TEST_F(Meetings, TellWhatAnyRankSays) {
  on_sessions([](Session& session, std::uint32_t rank) {
    bool apart = false;
    const MeetingPlace at{"here", 7, 0, &apart};
    EXPECT_FALSE(session.any(false, &at).value());
    EXPECT_TRUE(session.any(rank == 1, &at).value());
    EXPECT_FALSE(apart);
  });
}

TEST_F(Meetings, NameTheRanksThatAreElsewhere) {
  on_sessions([](Session& session, std::uint32_t rank) {
    for (const std::uint64_t other : {6U, 8U}) {
      bool apart = false;
      const bool away = rank == session.ranks() - 1;
      const MeetingPlace at{away ? "there" : "here", away ? other : 7, 0, &apart};
      const auto met = session.any(false, &at);
      ASSERT_FALSE(met);
      EXPECT_TRUE(apart);
      EXPECT_EQ(met.error().code, PERDURE_MISMATCH);
      const std::string last = std::to_string(session.ranks() - 1);
      EXPECT_THAT(met.error().cause, HasSubstr(": here; rank " + last + ": there"));
      EXPECT_EQ(met.error().cause.find("rank"), 0U) << "the lower ranks come first";
    }
    const MeetingPlace together{"together", 1, 0, nullptr};
    EXPECT_TRUE(session.any(true, &together).value()) << "the group is whole";
  });
}

TEST_F(Meetings, CutWhatAPlaceIsCalled) {
  on_sessions([](Session& session, std::uint32_t rank) {
    const MeetingPlace at{std::string(400, static_cast<char>('a' + rank)), rank == 0 ? 1U : 2U, 0, nullptr};
    const auto met = session.any(false, &at);
    ASSERT_FALSE(met);
    EXPECT_THAT(met.error().cause, HasSubstr("rank 0: " + std::string(159, 'a') + "; rank"));
  });
}

TEST_F(Meetings, OfWhoMakesAnotherCallAreNoMeetings) {
  on_sessions([](Session& session, std::uint32_t rank) {
    bool apart = false;
    const MeetingPlace at{"here", 7, 0, &apart};
    const auto met = rank == 0 ? session.any(false) : session.any(false, &at);
    EXPECT_EQ(met.error().code, PERDURE_MISMATCH);
    EXPECT_FALSE(apart);
  });
}

}  // namespace
}  // namespace perdure::client
