#include "network/callers.hpp"

#include <gmock/gmock.h>

namespace perdure::network {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr std::uint64_t kSecond = 1'000'000'000;

const Caller kEndpoint{10'000, kSecond / 2}, kSilent{0, kSecond / 2}, kSilentForLong{0, 6 * kSecond},
    kAskedForAConnection{48, 6 * kSecond}, kQuietForAnHour{10'000, 3600 * kSecond};

TEST(Callers, WhoHasNotSpokenWithinTheDeadlineHasToGo) {
  EXPECT_THAT(callers_to_close({kEndpoint, kSilentForLong, kSilent, kAskedForAConnection}, 1, 100),
              UnorderedElementsAre(1, 3));
}

TEST(Callers, WhoHasSpokenMayBeQuietWhereThereAreFew) {
  EXPECT_THAT(callers_to_close({kEndpoint, kQuietForAnHour}, 1, 100), IsEmpty());
}

TEST(Callers, OfTooManyThoseGoWhoHaveNotSpokenAndThenWhoeverIsSilentForLongest) {
  const std::vector<Caller> callers = {kEndpoint, kSilent, kEndpoint, kQuietForAnHour, kSilent, kEndpoint};
  EXPECT_THAT(callers_to_close(callers, 4, 2), IsEmpty());
  EXPECT_THAT(callers_to_close(callers, 3, 2), UnorderedElementsAre(1, 4));
  EXPECT_THAT(callers_to_close(callers, 3, 0), UnorderedElementsAre(1, 4, 3));
}

// An endpoint that comes in a crowd has to be heard before it can be answered.
TEST(Callers, WhoAskedForAConnectionStaysLongerThanWhoSaidNothing) {
  const Caller asked{48, kSecond};
  EXPECT_THAT(callers_to_close({asked, kSilent, kSilent, kSilent}, 0, 2), UnorderedElementsAre(1, 2, 3));
}

TEST(Callers, WhoIsKnownKeepsItsPlaceBesideAnyCrowd) {
  for (const std::size_t known : {1U, 15U, 4095U}) {
    std::vector<Caller> callers(known + 5000, kSilent);
    for (std::size_t i = 0; i < known; ++i) callers[2 * i % callers.size()] = kEndpoint;
    for (const std::size_t i : callers_to_close(callers, known, 64)) EXPECT_FALSE(callers[i].has_spoken());
  }
}

TEST(Callers, HaveAnEighthOfAllDescriptorsAtMostAndHalfOfThoseThatAreLeft) {
  EXPECT_EQ(places_for_strangers({1024, 100}, 10, 10), 128U);
  EXPECT_EQ(places_for_strangers({1024, 1000}, 10, 10), 12U);
  EXPECT_EQ(places_for_strangers({1024, 1024}, 10, 10), 0U);
  EXPECT_EQ(places_for_strangers({1'000'000, 100}, 10, 10), 1024U);
}

// Descriptors of strangers do not count as the program's need, so the number of places does not oscillate.
TEST(Callers, StrangersThatAreThereDoNotCountAsNeeded) {
  EXPECT_EQ(places_for_strangers({1024, 1000}, 10, 10), places_for_strangers({1024, 1012}, 22, 10));
}

}  // namespace
}  // namespace perdure::network
