// A prune of the quarantine reads names from files, and keeps a name's last evidence.
#include "inspect/prune_quarantine.hpp"

#include <gtest/gtest.h>

namespace perdure::inspect {
namespace {

TEST(PruneQuarantine, FindsTheNameInThatOfTheFile) {
  const std::string segment = segment::file_name(0, 2, {5, 7});
  EXPECT_EQ(name_of_quarantined("nbody.12." + segment), "nbody");
  EXPECT_EQ(name_of_quarantined("a.b.12." + segment + ".2"), "a.b");
  EXPECT_EQ(name_of_quarantined("nbody.12." + segment + ".moving"), "nbody");
  for (const std::string& other : {std::string("x"), segment, "." + segment, std::string("nbody.12.x.pds")})
    EXPECT_EQ(name_of_quarantined(other), "") << other;
}

TEST(PruneQuarantine, KeepsWhatIsTheOnlyReasonThatANameIsNoFirstStart) {
  EXPECT_FALSE(may_be_emptied({false, true}));
  EXPECT_TRUE(may_be_emptied({true, true}));
  EXPECT_TRUE(may_be_emptied({false, false})) << "it was forgotten";
}

}  // namespace
}  // namespace perdure::inspect
