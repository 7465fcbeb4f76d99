#include "engine/ledger/reports.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "os/fault_rules.hpp"
#include "support/installed_hooks.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::engine {
namespace {

TEST(Reports, AreGivenOnceInTheirOrder) {
  Reports reports;
  reports.add("one");
  reports.add("two");
  EXPECT_EQ(reports.take(), "one");
  EXPECT_EQ(reports.take(), "two");
  EXPECT_EQ(reports.take(), std::nullopt);
}

TEST(Reports, ThatNobodyTakesAreBoundedAndTheirNumberIsTold) {
  Reports reports;
  for (int i = 0; i < 300; ++i) reports.add(std::to_string(i));
  EXPECT_NE(reports.take()->find("44 older reports"), std::string::npos);
  EXPECT_EQ(reports.take(), "44");
  int left = 0;
  while (reports.take()) ++left;
  EXPECT_EQ(left, 255);
}

TEST(Reports, AreAlsoInTheLogWhichIsAppendedTo) {
  test_support::TemporaryDirectory directory;
  for (const char* text : {"first life", "second life"}) {
    Reports reports;
    ASSERT_TRUE(reports.log_to(directory / "engine.log"));
    reports.add(text);
  }
  auto bytes = os::read_file(directory / "engine.log", 1 << 20);
  ASSERT_TRUE(bytes);
  const std::string log(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  EXPECT_NE(log.find("Z first life\n"), std::string::npos) << log;
  EXPECT_NE(log.find("Z second life\n"), std::string::npos) << log;
}

TEST(Reports, DoNotFillTheDeviceWithTheirLog) {
  test_support::TemporaryDirectory directory;
  Reports reports;
  ASSERT_TRUE(reports.log_to(directory / "engine.log"));
  for (int i = 0; i < 8; ++i) reports.note(std::string(base::MiB, 'x'));
  EXPECT_LT(os::File::open(directory / "engine.log", os::Open::read).value().size().value(), 6 * base::MiB);
  EXPECT_EQ(reports.take(), std::nullopt) << "what is noted is for the log only";
}

TEST(Reports, ALogThatCannotBeWrittenLosesNoReport) {
  test_support::TemporaryDirectory directory;
  Reports reports;
  ASSERT_TRUE(reports.log_to(directory / "engine.log"));
  os::FaultRules faults(*os::parse_fault_rules("pwrite:engine.log:ENOSPC"));
  test_support::InstalledHooks installed(faults);
  reports.add("text");
  EXPECT_EQ(reports.take(), "text");
}

TEST(Reports, OfManyThreadsAllArrive) {
  Reports reports;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&reports] {
      for (int i = 0; i < 50; ++i) reports.add("x");
    });
  threads.clear();
  int count = 0;
  while (reports.take()) ++count;
  EXPECT_EQ(count, 200);
}

}  // namespace
}  // namespace perdure::engine
