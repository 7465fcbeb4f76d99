// Compares the census with its page, and checks that each row has its test.
#include "process/census.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

namespace perdure::process {
namespace {

std::set<std::string> tests_there_are() {
  std::set<std::string> all;
  const auto& program = *testing::UnitTest::GetInstance();
  for (int i = 0; i < program.total_test_suite_count(); ++i) {
    const auto& suite = *program.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j)
      all.insert(std::string(suite.name()) + "." + suite.GetTestInfo(j)->name());
  }
  return all;
}

TEST(CensusTable, IsThatOfThePage) {
  std::ifstream file(PERDURE_PROCESS_PAGE);
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(page.empty()) << PERDURE_PROCESS_PAGE;
  EXPECT_NE(page.find(census_table()), std::string::npos) << "docs/process.md is to have:\n" << census_table();
}

TEST(CensusTable, HasATestInEachRow) {
  const auto tests = tests_there_are();
  std::set<std::string> names;
  for (const StateKind& one : census()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name << " has two rows";
    const std::string test = one.test;
    if (test.empty())
      EXPECT_EQ(one.fate, Fate::lost) << one.name << " has no test";
    else
      EXPECT_TRUE(tests.contains(test)) << one.name << ": there is no test " << test;
  }
}

}  // namespace
}  // namespace perdure::process
