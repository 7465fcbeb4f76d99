// `perdure run --check-protection` is stopped, started with closed streams, or asked for the impossible.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/check_protection.hpp"
#include "cli/launched_testing.hpp"

namespace perdure::cli {
namespace {

using testing::HasSubstr;

/// Gives arguments that put the check's files into this directory.
std::vector<std::string> kept_in(const test_support::TemporaryDirectory& directory) {
  return {"--set", "node.path=" + (directory / "node"), "--set", "tier.file.path=" + (directory / "file")};
}

/// A user presses Ctrl-C when so many programs have ended, and while none runs.
class StoppedBetween : public Supervisor {
 public:
  explicit StoppedBetween(int programs) : programs_(programs) {}
  plan::ProgramEnd run(const std::vector<std::string>&, const Environment&) override {
    ++launches;
    return {plan::ProgramEnd::Kind::exited, 0, 0, false, false};
  }
  std::optional<int> sleep(double) override {
    return launches >= programs_ ? std::optional<int>(SIGINT) : std::nullopt;
  }
  Probed probe(const std::vector<std::vector<std::string>>&, double) override { return {}; }
  int launches = 0;

 private:
  int programs_;
};

TEST(StoppedCheckOfProtection, HearsBetweenTheRunsToo) {
  for (int programs : {0, 1}) {
    const test_support::TemporaryDirectory directory;
    config::Config config;
    for (const char* key : {"store.path", "node.path", "tier.file.path"})
      ASSERT_TRUE(config.set(key, directory / key, config::Origin::command_line));
    StoppedBetween supervisor(programs);
    Terminal terminal{std::fopen("/dev/null", "w"), std::fopen((directory / "err").c_str(), "w")};
    EXPECT_EQ(check_protection({{"program"}, config, "", [](const std::string&) {}, nullptr}, supervisor, "", terminal),
              kCannot);
    std::fclose(terminal.out);
    std::fclose(terminal.err);
    EXPECT_EQ(supervisor.launches, programs) << "no other one is launched";
    EXPECT_THAT(text_of(directory / "err"), HasSubstr("stopped on request"));
  }
}

// Ranks that outlive their launcher for a moment do so.
TEST(StoppedCheckOfProtection, LeavesNothingOfAProgramThatWritesOnAfterTheCheckHasEnded) {
  const test_support::TemporaryDirectory directory;
  auto arguments = kept_in(directory);
  const std::string script =
      "(trap '' TERM; touch \"$0/trapped\"; while [ ! -e \"$0/ended\" ]; do sleep 0.01; done; mkdir -p "
      "\"$PERDURE_STORE_PATH/late\"; "
      "touch \"$0/late\") & while [ ! -e \"$0/trapped\" ]; do sleep 0.01; done; dirname \"$PERDURE_STORE_PATH\"; "
      "exec sleep 60";
  arguments.insert(arguments.begin(), "--check-protection");
  arguments.insert(arguments.end(), {"--", "sh", "-c", script, directory.path()});
  Launched checked(arguments);
  const std::string store = checked.first_line();
  checked.signal(SIGTERM);
  EXPECT_EQ(checked.wait(), kCannot);
  EXPECT_FALSE(std::filesystem::exists(store)) << "what can be removed at once is";
  std::ofstream(directory / "ended") << "!";
  ASSERT_TRUE(
      eventually("the last of the group has written", [&] { return std::filesystem::exists(directory / "late"); }));
  EXPECT_TRUE(eventually("its store is removed", [&] { return !std::filesystem::exists(store); })) << store;
}

TEST(StoppedCheckOfProtection, WorksWithClosedStreams) {
  const test_support::TemporaryDirectory directory;
  std::string command = "exec " PERDURE_PROGRAM " run --check-protection --store '" + (directory / "store") + "'";
  for (const std::string& word : kept_in(directory)) command += " '" + word + "'";
  command += " -- sh -c 'sleep 0.5; [ -d \"$PERDURE_STORE_PATH\" ] && exec " PERDURE_FORGETFUL " none' <&- >&- 2>'" +
             (directory / "err") + "'";
  EXPECT_EQ(std::system(command.c_str()), 0) << text_of(directory / "err");
  EXPECT_THAT(text_of(directory / "err"), HasSubstr("check of protection: same"));
}

TEST(StoppedCheckOfProtection, IsRefusedWithEnginesOfTheirOwnOnOtherHosts) {
  const Ran ran = run_verb(
      {"run", "--check-protection", "--nodes", "1", "--hosts", "a,b", "--engine", "daemon", "--", "mpirun", "program"});
  EXPECT_EQ(ran.status, kUsage);
  EXPECT_THAT(ran.err, testing::AllOf(HasSubstr("engine.mode=daemon"), HasSubstr("--engine embedded")));
}

}  // namespace
}  // namespace perdure::cli
