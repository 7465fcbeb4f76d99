#include "os/fault_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>

#include "os/file.hpp"
#include "os/system.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::os {
namespace {

using test_support::TemporaryDirectory;

int ask(FaultRules& rules, const char* call, const std::string& path) {
  return rules.before({.call = call, .path = path, .new_path = {}, .data = {}});
}

TEST(ParseFaultRules, ReadsCallPathErrorFromAndCount) {
  const auto rules = parse_fault_rules("pwrite:/store/:ENOSPC:3:2; *::EIO ;fsync:a:EDQUOT:4").value();
  ASSERT_EQ(rules.size(), 3U);
  EXPECT_EQ(rules[0].call, "pwrite");
  EXPECT_EQ(rules[0].path, "/store/");
  EXPECT_EQ(rules[0].error_number, ENOSPC);
  EXPECT_EQ(rules[0].from, 3U);
  EXPECT_EQ(rules[0].count, 2U);
  EXPECT_EQ(rules[1].from, 1U);
  EXPECT_EQ(rules[1].count, 0U);
  EXPECT_EQ(rules[2].from, 4U);
  EXPECT_EQ(rules[2].count, 0U);
}

TEST(ParseFaultRules, ReadsDelaysCommentsAndLines) {
  const auto rules =
      parse_fault_rules("# a slow store; really\nslow:/store/:250  # quarter of a second\n\n;;open:x:EACCES\n").value();
  ASSERT_EQ(rules.size(), 2U);
  EXPECT_EQ(rules[0].delay_ms, 250U);
  EXPECT_EQ(rules[0].path, "/store/");
  EXPECT_EQ(rules[1].error_number, EACCES);
  EXPECT_TRUE(parse_fault_rules("").value().empty());
}

TEST(ParseFaultRules, ReadsHowManyBytesATransferMoves) {
  const auto rules = parse_fault_rules("short:/store/:1000").value();
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(rules[0].most_bytes, 1000U);
  EXPECT_EQ(rules[0].path, "/store/");
}

TEST(ParseFaultRules, RefusesMistakesAndQuotesTheRule) {
  for (const char* text : {"pwrite", "pwrite:/a", ":/a:EIO", "pwrite:/a:EWHAT", "pwrite:/a:5", "pwrite:/a:EIO:0",
                           "pwrite:/a:EIO:x", "pwrite:/a:EIO:1:x", "pwrite:/a:EIO:1:2:3", "slow:/a:fast", "slow:/a:1:2",
                           "short:/a:few", "short:/a:0", "short:/a:1:2", "open:a:EIO;broken"}) {
    const auto parsed = parse_fault_rules(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, PERDURE_INVALID_ARGUMENT);
    EXPECT_THAT(parsed.error().object, testing::HasSubstr("'"));
  }
}

TEST(FaultRules, FailExactlyTheCallsThatAreNamed) {
  FaultRules rules(parse_fault_rules("pwrite:/store/:ENOSPC:2:2").value());
  EXPECT_EQ(ask(rules, "pwrite", "/store/a"), 0);
  EXPECT_EQ(ask(rules, "pwrite", "/tier/a"), 0);  // other paths are not counted
  EXPECT_EQ(ask(rules, "pread", "/store/a"), 0);  // other calls are not counted
  EXPECT_EQ(ask(rules, "pwrite", "/store/b"), ENOSPC);
  EXPECT_EQ(ask(rules, "pwrite", "/store/c"), ENOSPC);
  EXPECT_EQ(ask(rules, "pwrite", "/store/d"), 0);
}

TEST(FaultRules, FailForEverWithoutACount) {
  FaultRules rules(parse_fault_rules("*:/store:EIO:2").value());
  EXPECT_EQ(ask(rules, "open", "/store"), 0);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(ask(rules, "fsync", "/store/x"), EIO);
}

TEST(FaultRules, LetTheFirstRuleThatAppliesDecide) {
  FaultRules rules(parse_fault_rules("open:a:EIO:2:1;open:a:EACCES").value());
  EXPECT_EQ(ask(rules, "open", "a"), EACCES);
  EXPECT_EQ(ask(rules, "open", "a"), EIO);
  EXPECT_EQ(ask(rules, "open", "a"), EACCES);
}

TEST(FaultRules, SeeTheNewNameOfARenameToo) {
  FaultRules rules(parse_fault_rules("rename:.segment:EIO").value());
  EXPECT_EQ(rules.before({.call = "rename", .path = "/a/x.tmp", .new_path = "/a/x.segment", .data = {}}), EIO);
}

TEST(FaultRules, DelayWithoutFailing) {
  FaultRules rules(parse_fault_rules("slow:/store:4;slow:/sto:2;pwrite:/store:EIO:2").value());
  const std::uint64_t begin = monotonic_ns();
  EXPECT_EQ(ask(rules, "pwrite", "/store"), 0);
  EXPECT_GE(monotonic_ns() - begin, 6'000'000u) << "all that apply, one after the other";
  EXPECT_EQ(ask(rules, "pwrite", "/store"), EIO);
}

TEST(FaultRules, CutTransfersShortAndFailNone) {
  FaultRules rules(parse_fault_rules("short:/store:100;short:/store/a:7").value());
  const auto most = [&](const std::string& path, std::size_t asked) {
    return rules.most({.call = "pwrite", .path = path, .new_path = {}, .data = {}}, asked);
  };
  EXPECT_EQ(most("/tier/a", 5000), 5000U);
  EXPECT_EQ(most("/store/b", 5000), 100U);
  EXPECT_EQ(most("/store/b", 99), 99U);
  EXPECT_EQ(most("/store/a", 5000), 7U) << "the least of all";
  EXPECT_EQ(ask(rules, "pwrite", "/store/a"), 0);
}

TEST(FaultRules, FollowTheFileTheyWatch) {
  const TemporaryDirectory directory;
  const std::string path = directory / "rules";
  const auto replace_rules = [&](const std::string& text) {
    std::ofstream(path + ".new") << text;
    std::filesystem::rename(path + ".new", path);
  };
  const std::unique_ptr<FaultRules> rules(FaultRules::watching(path));
  EXPECT_EQ(ask(*rules, "open", "/store"), 0) << "no file, no rules";
  replace_rules("*:/store:ESTALE");
  EXPECT_EQ(ask(*rules, "open", "/store"), ESTALE) << "the store vanishes";
  replace_rules("this is no rule");
  EXPECT_EQ(ask(*rules, "open", "/store"), ESTALE) << "a mistake changes nothing";
  replace_rules("# nothing");
  EXPECT_EQ(ask(*rules, "open", "/store"), 0) << "the store returns";
  replace_rules("open:/store:EIO:1:1");
  EXPECT_EQ(ask(*rules, "open", "/store"), EIO);
  EXPECT_EQ(ask(*rules, "open", "/store"), 0);
  std::filesystem::remove(path);
  EXPECT_EQ(ask(*rules, "open", "/store"), 0);
}

// The process reads the environment once, so each case runs in its own process.
bool in_child(const char* variable, const std::function<bool()>& works) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setenv("PERDURE_TEST_FAULTS", variable, 1);
    const bool good = works();
    ::_exit(good ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(FaultsFromEnvironment, AreInstalledOnce) {
  EXPECT_TRUE(in_child("mkdir:/nowhere:EDQUOT:1:1", [] {
    return install_faults_from_environment() && make_directory("/nowhere/x").error().code == PERDURE_NO_SPACE &&
           install_faults_from_environment() && make_directory("/nowhere/x").error().code == PERDURE_NOT_FOUND;
  }));
}

TEST(FaultsFromEnvironment, ComeFromAFileThatMayChange) {
  const TemporaryDirectory directory;
  const std::string path = directory / "rules";
  EXPECT_TRUE(in_child(("@" + path).c_str(), [&] {
    const bool before = install_faults_from_environment() && !exists(directory / "x").value_or(true);
    std::ofstream(path) << "lstat::EIO";
    return before && !exists(directory / "x");
  }));
}

TEST(FaultsFromEnvironment, AreRefusedWhenTheyMakeNoSense) {
  EXPECT_TRUE(in_child("nonsense", [] { return !install_faults_from_environment() && !HeldHooks(); }));
  EXPECT_TRUE(in_child("", [] { return install_faults_from_environment() && !HeldHooks(); }));
}

}  // namespace
}  // namespace perdure::os
