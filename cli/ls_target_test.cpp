// The word of `perdure ls` is a store or a name.
#include "cli/ls_target.hpp"

#include <gtest/gtest.h>

namespace perdure::cli {
namespace {

LsTarget target(const std::string& word, const std::string& option = "", bool is_directory = false) {
  return ls_target(word, option, is_directory).value();
}

TEST(LsTarget, IsAStoreWhereTheWordIsADirectoryAPathOrAUrl) {
  EXPECT_EQ(target("data", "", true), (LsTarget{"data", ""}));
  EXPECT_EQ(target("/data/store"), (LsTarget{"/data/store", ""}));
  EXPECT_EQ(target("posix://store"), (LsTarget{"posix://store", ""}));
  EXPECT_EQ(target("./nbody"), (LsTarget{"./nbody", ""}));
}

TEST(LsTarget, IsANameElse) {
  EXPECT_EQ(target("nbody"), (LsTarget{"", "nbody"}));
  EXPECT_EQ(target(""), (LsTarget{"", ""}));
}

TEST(LsTarget, IsANameBesideTheOptionAlsoWhereADirectoryHasThatName) {
  EXPECT_EQ(target("nbody", "/data", true), (LsTarget{"/data", "nbody"}));
  EXPECT_EQ(target("", "/data"), (LsTarget{"/data", ""}));
  EXPECT_EQ(ls_target("/other", "/data", true).error().code, PERDURE_INVALID_ARGUMENT);
}

TEST(LsTarget, IsRefusedWhereTheWordCanBeNeither) {
  EXPECT_EQ(ls_target("nbody@7", "", false).error().code, PERDURE_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace perdure::cli
