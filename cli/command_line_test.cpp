#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/json.hpp"
#include "cli/libraries.hpp"
#include "cli/progress.hpp"
#include "cli/verb_testing.hpp"
#include "config/config.hpp"
#include "inspect/check.hpp"
#include "inspect/table.hpp"
#include "os/file.hpp"

namespace perdure::cli {
namespace {

using testing::HasSubstr;

TEST(CommandLine, HelpsOnRequestAndRefusesEverythingElse) {
  EXPECT_EQ(run_verb({"--help"}).status, kGood);
  EXPECT_EQ(run_verb({"--version"}).status, kGood);
  EXPECT_EQ(run_verb({}).status, kUsage);
  EXPECT_EQ(run_verb({""}).status, kUsage);
  EXPECT_EQ(run_verb({"nonsense"}).status, kUsage);
  EXPECT_EQ(run_verb({"ls", "--nonsense"}).status, kUsage);
  EXPECT_EQ(run_verb({"ls", "a", "b"}).status, kUsage);
  EXPECT_EQ(run_verb({"show"}).status, kUsage);
}

TEST(CommandLine, EveryVerbHasHelpAndKnowsJson) {
  for (const Verb& verb : verbs()) {
    const Ran ran = run_verb({verb.name, "--help"});
    EXPECT_EQ(ran.status, kGood) << verb.name;
    EXPECT_THAT(ran.out, HasSubstr("--json")) << verb.name;
  }
}

TEST(CommandLine, SurvivesHostileArguments) {
  SampleStore store;
  const std::vector<std::string> hostile{"",
                                         "@",
                                         "@1",
                                         "a@",
                                         "a@@1",
                                         "a@-1",
                                         "a@99999999999999999999",
                                         "../../etc@1",
                                         "a/b",
                                         std::string(10'000, 'x'),
                                         "a@1 ",
                                         "a@0x1",
                                         "\x01\x02",
                                         "-",
                                         "--",
                                         "%s%n",
                                         "a@9223372036854775808",
                                         "\xff\xfe"};
  for (const std::string& text : hostile) {
    for (const char* verb : {"show", "prune"}) {
      const Ran ran = run_verb({verb, "--store", store.path(), "--", text});
      EXPECT_THAT(ran.status, testing::AnyOf(kUsage, kCannot, kGood)) << verb << " " << text;
      if (std::string(verb) == "show") {
        EXPECT_NE(ran.status, kGood) << text;
      }
    }
    EXPECT_NE(run_verb({"verify", store.path(), "--threads", text}).status, kGood) << text;
    EXPECT_NE(run_verb({"ls", "--", "/nonexistent/" + text}).status, kGood) << text;
    EXPECT_EQ(run_verb({"config", "--set=" + text}).status, kUsage) << text;
  }
  EXPECT_EQ(run_verb({"verify", store.path(), "--threads", "0"}).status, kUsage);
  EXPECT_EQ(run_verb({"ls", "s3://bucket"}).status, kUsage);
}

TEST(Config, SaysWhereEachValueCameFrom) {
  const Variable variable("PERDURE_FLUSH_THREADS", "5");
  const auto json = run_verb({"config", "--set", "job=mine", "--json"}).json();
  std::map<std::string, std::string> origin;
  for (const auto& option : json["options"]) origin[option["key"]] = option["origin"];
  EXPECT_EQ(origin["flush.threads"], config::origin_name(config::Origin::environment));
  EXPECT_EQ(origin["job"], config::origin_name(config::Origin::command_line));
  EXPECT_EQ(origin["chunk_bytes"], config::origin_name(config::Origin::default_value));
  EXPECT_EQ(origin.size(), config::options().size());
  EXPECT_THAT(run_verb({"config"}).out, HasSubstr("environment PERDURE_FLUSH_THREADS"));
}

TEST(Config, PrintsItsPage) { EXPECT_EQ(run_verb({"config", "--markdown"}).out, config::markdown()); }

TEST(Config, RefusesAnUnknownKeyAndNamesTheNearest) {
  const Ran ran = run_verb({"config", "--set", "flush.thread=3"});
  EXPECT_EQ(ran.status, kUsage);
  EXPECT_THAT(ran.err, HasSubstr("flush.threads"));
}

TEST(Doctor, ChecksEverythingAndLeavesNothingBehind) {
  test_support::TemporaryDirectory directory;
  const Variable node("PERDURE_NODE_PATH", directory / "node"), file("PERDURE_TIER_FILE_PATH", directory / "file");
  const Variable stores("PERDURE_STORE_PATH", directory / "store");
  const auto json = run_verb({"doctor", "--json"}).json();
  EXPECT_GE(json["checks"].size(), 10u);
  EXPECT_EQ(json["problems"], 0) << json.dump(2);
  for (const auto& check : json["checks"]) EXPECT_EQ(check["verdict"] == "ok", check["remedy"] == "") << check.dump();
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(Doctor, AStoreThatIsAFileIsAProblemWithARemedy) {
  test_support::TemporaryDirectory directory;
  const Variable node("PERDURE_NODE_PATH", directory / "node"), file("PERDURE_TIER_FILE_PATH", directory / "file");
  const Variable stores("PERDURE_STORE_PATH", "/etc/passwd");
  const Ran ran = run_verb({"doctor", "--quick"});
  EXPECT_EQ(ran.status, kBad);
  EXPECT_THAT(ran.out, HasSubstr("problem  store:"));
  EXPECT_THAT(ran.out, HasSubstr("remedy: set store.path"));
}

TEST(Doctor, AStoreWithoutRoomForAChunkIsAProblemAndOneWithLittleIsWorthAWarning) {
  constexpr std::uint64_t kChunk = 64 << 20;
  const auto judged = [](std::uint64_t available_bytes) {
    Check check{"store", Verdict::ok, "fine", ""};
    judge_room(check, "/store", {1ULL << 40, available_bytes, "tmpfs"}, kChunk);
    return check;
  };
  for (const std::uint64_t none : {std::uint64_t{0}, kChunk - 1}) EXPECT_EQ(judged(none).verdict, Verdict::problem);
  for (const std::uint64_t few : {kChunk, 16 * kChunk - 1}) EXPECT_EQ(judged(few).verdict, Verdict::warning);
  EXPECT_EQ(judged(16 * kChunk).verdict, Verdict::ok);
  EXPECT_EQ(judged(16 * kChunk).finding, "fine");
  EXPECT_EQ(judged(0).finding,
            "/store (tmpfs, 0 B free): no room for one chunk of 64.0 MiB, so that checkpoints stay on the node");
  EXPECT_THAT(judged(0).remedy, HasSubstr("perdure prune"));
  Check other{"store", Verdict::problem, "not writable", "chmod"};
  judge_room(other, "/store", {1, 0, "tmpfs"}, kChunk);
  EXPECT_EQ(other.finding, "not writable") << "what is worse is told";
}

TEST(Doctor, LooksAtTheRoomOfTheStore) {
  test_support::TemporaryDirectory directory;
  const Variable node("PERDURE_NODE_PATH", directory / "node"), file("PERDURE_TIER_FILE_PATH", directory / "file");
  const Variable stores("PERDURE_STORE_PATH", directory / "store");
  const auto space = os::space(directory.path()).value();
  const auto json = run_verb({"doctor", "--quick", "--json", "--set", "chunk_bytes=16GiB"}).json();
  const bool little = space.available_bytes / 16 < (16ULL << 30);
  for (const auto& check : json["checks"])
    if (check["check"] == "store") {
      EXPECT_EQ(check["verdict"] == "ok", !little) << check.dump();
    }
}

class DoctorOnModels : public testing::Test {
 protected:
  base::Json verdict() {
    const auto json = run_verb({"doctor", "--quick", "--json"}).json();
    for (const auto& check : json["checks"])
      if (check["check"] == "model of tier file") return check;
    return {};
  }
  test_support::TemporaryDirectory directory_;
  Variable node_{"PERDURE_NODE_PATH", directory_ / "node"}, file_{"PERDURE_TIER_FILE_PATH", directory_ / "file"};
  Variable models_{"PERDURE_PLACEMENT_MODELS", directory_ / "models"};
};

TEST_F(DoctorOnModels, AMissingOneMattersToPoliciesThatPredict) {
  EXPECT_EQ(verdict()["verdict"], "warning");
  EXPECT_EQ(verdict()["remedy"], "perdure calibrate --tier file");
  const Variable policy("PERDURE_PLACEMENT_POLICY", "hybrid-naive");
  EXPECT_EQ(verdict()["verdict"], "ok");
  EXPECT_THAT(verdict()["finding"], HasSubstr("not calibrated"));
}

TEST_F(DoctorOnModels, TheOneThatCalibrateStoresIsGoodAndABrokenOneIsAWarning) {
  ASSERT_EQ(
      run_verb({"calibrate", "--tier", "file", "--chunk-bytes", "64KiB", "--max-writers", "5", "--repetitions", "1"})
          .status,
      kGood);
  EXPECT_EQ(verdict()["verdict"], "ok");
  EXPECT_THAT(verdict()["finding"], testing::AllOf(HasSubstr("calibrated 20"), HasSubstr("models/file.json")));
  ASSERT_TRUE(os::write_file_atomically(directory_ / "models/file.json", {}));
  EXPECT_EQ(verdict()["verdict"], "warning");
  EXPECT_THAT(verdict()["finding"], HasSubstr("file.json cannot be used"));
}

TEST(Doctor, ReadsTheChosenWordOfAKernelSetting) {
  EXPECT_EQ(bracketed("always within_size advise [never] deny force\n"), "never");
  EXPECT_EQ(bracketed("none"), "");
  EXPECT_EQ(bracketed("]x["), "");
}

TEST(Table, AlignsColumnsAndHidesControlCharacters) {
  Table table({{"NAME"}, {"SIZE", Table::Align::right}});
  table.row({"a\x1b[2Jb", "1"});
  table.row({"\xc3\xa4", "1000"});
  EXPECT_EQ(table.text(), "NAME    SIZE\na?[2Jb     1\n\xc3\xa4       1000\n");
}

TEST(Progress, TellsHowFarHowFastAndHowLong) {
  EXPECT_THAT(progress_line("verifying", 50 << 20, 100 << 20, 2), HasSubstr("verifying  50%"));
  EXPECT_THAT(progress_line("verifying", 50 << 20, 100 << 20, 2), HasSubstr("25.0 MiB/s, 2 s left"));
  EXPECT_THAT(progress_line("verifying", 0, 100, 0), HasSubstr("  0%"));
  EXPECT_THAT(progress_line("verifying", 0, 0, 1), HasSubstr("100%"));
  EXPECT_THAT(progress_line("verifying", 200, 100, 1), HasSubstr("100%"));
}

}  // namespace
}  // namespace perdure::cli
