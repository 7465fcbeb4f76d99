#include "plan/lease.hpp"

#include <gtest/gtest.h>

namespace perdure::plan {
namespace {

constexpr std::uint64_t kLease = 30;

// Checks every combination of facts.
TEST(Lease, IsTakenOnlyFromWhoIsDeadGoneOrUs) {
  for (unsigned bits = 0; bits < 32; ++bits)
    for (const std::uint64_t watched : {std::uint64_t{0}, kLease - 1, kLease, 2 * kLease}) {
      const bool owned = (bits & 1) != 0, ours = (bits & 2) != 0, here = (bits & 4) != 0, lives = (bits & 8) != 0,
                 renewed = (bits & 16) != 0;
      const auto verdict = judge_lease({owned, ours, here, lives, renewed, watched, kLease});
      SCOPED_TRACE(testing::Message() << "owned " << owned << " ours " << ours << " here " << here << " lives " << lives
                                      << " renewed " << renewed << " watched " << watched);
      if (!owned || ours || (here && !lives)) {
        EXPECT_EQ(verdict, LeaseVerdict::take) << "nobody else's";
      } else if (renewed) {
        EXPECT_EQ(verdict, LeaseVerdict::busy) << "who renews lives";
      } else if (watched < kLease) {
        EXPECT_EQ(verdict, LeaseVerdict::wait) << "nothing is known before the lease is over";
      } else {
        EXPECT_EQ(verdict, here ? LeaseVerdict::busy : LeaseVerdict::take) << "seen to live here, or silent elsewhere";
      }
    }
}

}  // namespace
}  // namespace perdure::plan
