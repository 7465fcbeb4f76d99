// The command line is parsed, and each verb answers or refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/json.hpp"
#include "cli/libraries.hpp"
#include "cli/progress.hpp"
#include "cli/verb_testing.hpp"
#include "config/config.hpp"
#include "inspect/check_cluster.hpp"
#include "inspect/table.hpp"
#include "os/fault_rules.hpp"
#include "os/file.hpp"
#include "support/directory_on.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

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
  EXPECT_EQ(run_verb({"ls", "gopher://bucket"}).status, kUsage);
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

TEST(Config, ShowsTheOptionsOfATopic) {
  const auto keys = [](const std::vector<std::string>& topics) {
    std::vector<std::string> arguments{"config", "--json"}, found;
    arguments.insert(arguments.end(), topics.begin(), topics.end());
    const auto json = run_verb(arguments).json();
    for (const auto& option : json["options"]) found.push_back(option["key"]);
    return found;
  };
  EXPECT_THAT(keys({"network"}), testing::Each(testing::StartsWith("network.")));
  EXPECT_THAT(keys({"network"}), testing::Contains("network.provider"));
  EXPECT_THAT(keys({"job"}), testing::ElementsAre("job"));
  EXPECT_THAT(keys({"tier.memory", "job"}), testing::IsSupersetOf({"tier.memory.max_bytes", "job"}));
  EXPECT_GT(keys({}).size(), 50U);
  const Ran wrong = run_verb({"config", "stores"});
  EXPECT_EQ(wrong.status, kUsage);
  EXPECT_THAT(wrong.err, HasSubstr("the words are "));
}

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

TEST(Doctor, AStoreThatCanHaveNoMoreFilesIsAProblem) {
  const auto judged = [](std::uint64_t total, std::uint64_t available) {
    Check check{"store", Verdict::ok, "fine", ""};
    os::Space space{1ULL << 40, 1ULL << 39, "ext4"};
    space.total_files = total;
    space.available_files = available;
    judge_free_files(check, "/store", space);
    return check;
  };
  EXPECT_EQ(judged(10000, 0).verdict, Verdict::problem);
  EXPECT_THAT(judged(10000, 0).finding, HasSubstr("/store (ext4, 512.0 GiB free) can have 0 more files"));
  EXPECT_EQ(judged(10000, 500).verdict, Verdict::warning);
  EXPECT_EQ(judged(10000, 5000).verdict, Verdict::ok);
  EXPECT_EQ(judged(0, 0).finding, "fine") << "file systems that make files as they need them say nothing";
}

std::string check_named(const base::Json& json, const std::string& name, const char* field) {
  for (const auto& check : json["checks"])
    if (check["check"] == name) return check[field].get<std::string>();
  return {};
}

TEST(Doctor, TriesWhatACheckpointAsksOfAStore) {
  test_support::TemporaryDirectory directory;
  const Variable node("PERDURE_NODE_PATH", directory / "node"), file("PERDURE_TIER_FILE_PATH", directory / "file");
  const Variable stores("PERDURE_STORE_PATH", directory / "store");
  std::filesystem::create_directory(directory / "store");
  const auto finding = [] {
    const auto json = run_verb({"doctor", "--quick", "--json"}).json();
    for (const auto& check : json["checks"])
      if (check["check"] == "store")
        return check["verdict"].get<std::string>() + ": " + check["finding"].get<std::string>();
    return std::string();
  };
  EXPECT_THAT(finding(), testing::Not(HasSubstr("takes no checkpoint")));
  for (const char* rule : {"fsync_dir:perdure-doctor:EIO", "fallocate:perdure-doctor:ENOSPC",
                           "rename:perdure-doctor:EIO", "fsync:perdure-doctor:EIO"}) {
    os::FaultRules faults(os::parse_fault_rules(rule).value());
    const test_support::InstalledHooks hooks(faults);
    EXPECT_THAT(finding(), testing::StartsWith("problem: ")) << rule;
  }
  const auto told_of = [](const char* rule) {
    os::FaultRules faults(os::parse_fault_rules(rule).value());
    const test_support::InstalledHooks hooks(faults);
    const auto json = run_verb({"doctor", "--quick", "--json"}).json();
    return check_named(json, "store", "finding") + "; " + check_named(json, "store", "remedy");
  };
  EXPECT_THAT(told_of("fallocate:perdure-doctor:EDQUOT"), HasSubstr("or of your quota (quota -s)"));
  EXPECT_THAT(told_of("fsync:perdure-doctor:EOPNOTSUPP"), HasSubstr("to a file system that can do this"));
  EXPECT_TRUE(std::filesystem::is_empty(directory / "store"));
}

TEST(Doctor, NamesAFileSystemThatHasNoMoreInodes) {
  const test_support::DirectoryOn place(test_support::FileSystem::few_files);
  if (!place.missing().empty()) GTEST_SKIP() << place.missing();
  const test_support::TemporaryDirectory directory;
  const Variable node("PERDURE_NODE_PATH", directory / "node"), file("PERDURE_TIER_FILE_PATH", directory / "file");
  const Variable stores("PERDURE_STORE_PATH", place / "store");
  std::filesystem::create_directory(place / "store");
  for (int i = 0; os::File::open(place / std::to_string(i), os::Open::create_new);) ++i;
  const auto json = run_verb({"doctor", "--quick", "--json"}).json();
  EXPECT_EQ(check_named(json, "store", "verdict"), "problem");
  EXPECT_THAT(check_named(json, "store", "finding"), HasSubstr("can have no more files (inodes)"));
  EXPECT_THAT(check_named(json, "store", "remedy"), HasSubstr("df -i"));
}

TEST(Doctor, SaysWhetherNodesShareTheStoreAndWhatTheMemoryLimitOfTheJobIs) {
  test_support::TemporaryDirectory directory;
  const Variable node("PERDURE_NODE_PATH", directory / "node"), file("PERDURE_TIER_FILE_PATH", directory / "file");
  const Variable stores("PERDURE_STORE_PATH", directory / "store"), nodes("SLURM_JOB_NUM_NODES", "4");
  const auto json = run_verb({"doctor", "--quick", "--json"}).json();
  const auto sharing = sharing_of(os::space(directory.path())->type);
  EXPECT_THAT(check_named(json, "nodes and store", "finding"), HasSubstr(directory / "store"));
  EXPECT_EQ(check_named(json, "nodes and store", "verdict"), sharing == Sharing::of_one_node ? "warning" : "ok");
  EXPECT_NE(check_named(json, "memory limit of the job", "finding"), "");
}

TEST(Doctor, WarnsOfAStoreInWhichOthersCanWriteAndOfOneOfAnotherUser) {
  const SampleStore store;
  const Variable node("PERDURE_NODE_PATH", store.directory() / "node");
  const Variable file("PERDURE_TIER_FILE_PATH", store.directory() / "file"), where("PERDURE_STORE_PATH", store.path());
  const auto verdict = [](const std::string& finding) {
    const auto json = run_verb({"doctor", "--quick", "--json"}).json();
    EXPECT_THAT(check_named(json, "store", "finding"), HasSubstr(finding));
    return check_named(json, "store", "verdict");
  };
  EXPECT_EQ(verdict("writable"), "ok");
  ASSERT_EQ(::chmod(store.path().c_str(), 02775), 0);
  EXPECT_EQ(verdict("they can rename and remove what is yours"), "warning");
  ASSERT_EQ(::chmod(store.path().c_str(), 03775), 0);
  EXPECT_EQ(verdict("writable"), "ok") << "each can remove only what is theirs";
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(store.path().c_str(), 12345, 12345), 0);
  EXPECT_EQ(verdict("it belongs to user 12345"), "warning");
}

TEST(Doctor, AStoreWhoseSurroundingsAreMissingIsAProblem) {
  test_support::TemporaryDirectory directory;
  const Variable node("PERDURE_NODE_PATH", directory / "node"), file("PERDURE_TIER_FILE_PATH", directory / "file");
  const Variable stores("PERDURE_STORE_PATH", directory / "mount/mine/store");
  const Ran ran = run_verb({"doctor", "--quick"});
  EXPECT_EQ(ran.status, kBad);
  EXPECT_THAT(ran.out, HasSubstr("mkdir -p " + (directory / "mount/mine")));
}

TEST(OtherUsers, OfWhomAStoreOrANameIsAreNamedByEveryVerbThatLooksIntoIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  SampleStore store;
  store.add("mine", 1);
  store.add("theirs", 1);
  ASSERT_EQ(::chown((store.path() + "/theirs").c_str(), 12345, 12345), 0);
  for (const std::vector<std::string>& verb :
       {std::vector<std::string>{"ls", store.path()}, {"verify", store.path()}, {"prune", "--store", store.path()}}) {
    const Ran ran = run_verb(verb);
    EXPECT_EQ(ran.status, kGood) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("checkpoint theirs belongs to user 12345")) << verb[0];
    EXPECT_THAT(ran.err, Not(HasSubstr("mine"))) << verb[0];
  }
  EXPECT_THAT(run_verb({"ls", store.path()}).out, testing::AllOf(HasSubstr("mine"), HasSubstr("theirs")));
  ASSERT_EQ(::chown(store.path().c_str(), 12345, 12345), 0);
  const Ran ran = run_verb({"ls", store.path()});
  EXPECT_EQ(ran.status, kGood);
  EXPECT_THAT(ran.err, HasSubstr("the store " + store.path() + " belongs to user 12345"));
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
      EXPECT_EQ(check["verdict"] == "ok", !little && !space.in_memory()) << check.dump();
    }
}

TEST(Doctor, ListsVariablesThatASiteSets) {
  EXPECT_TRUE(judge_environment({{"PERDURE_JOB", "7"}, {"HOME", "/"}}).empty());
  const auto checks = judge_environment({{"PERDURE_ROOT", "/opt"}, {"PERDURE_DIR", "/opt"}});
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_EQ(checks[0].verdict, Verdict::ok);
  EXPECT_EQ(checks[0].finding, "PERDURE_DIR and PERDURE_ROOT resemble no options, and are left alone");
}

TEST(Doctor, JudgesTheLimitsOfAProcess) {
  const auto judged = [](const LimitFacts& facts, const std::string& name) {
    for (const Check& check : judge_limits(facts))
      if (check.name == name) return check;
    return Check{};
  };
  for (const char* name : {"open files", "locked memory", "file size", "threads"})
    EXPECT_EQ(judged({}, name).verdict, Verdict::ok) << name;
  LimitFacts facts;
  facts.files = 1024;
  facts.most_files = 4096;
  EXPECT_EQ(judged(facts, "open files").verdict, Verdict::ok);
  facts.redundancy = true;
  EXPECT_THAT(judged(facts, "open files").finding, HasSubstr("enough for jobs of 640 nodes"));
  facts.files = 512;
  EXPECT_EQ(judged(facts, "open files").verdict, Verdict::warning);
  EXPECT_EQ(judged(facts, "open files").remedy, "ulimit -n 4096");
  facts.most_files = 512;
  EXPECT_EQ(judged(facts, "open files").remedy, "ask the administrator for more");
  facts.files = 64;
  EXPECT_EQ(judged(facts, "open files").remedy, "ulimit -n 512, and ask the administrator for more");
  facts.chunk_bytes = 64 << 20;
  facts.file_bytes = 1 << 20;
  EXPECT_EQ(judged(facts, "file size").verdict, Verdict::problem);
  EXPECT_EQ(judged(facts, "file size").finding, "limit 1.0 MiB: less than a chunk of 64.0 MiB");
  EXPECT_EQ(judged(facts, "file size").remedy, "ulimit -f unlimited");
  facts.file_bytes = 1 << 30;
  EXPECT_EQ(judged(facts, "file size").verdict, Verdict::warning);
  facts.threads = 1000;
  facts.threads_there = 500;
  EXPECT_EQ(judged(facts, "threads").verdict, Verdict::ok);
  facts.threads_there = 900;
  EXPECT_EQ(judged(facts, "threads").verdict, Verdict::warning);
  for (const std::uint64_t many : {990U, 1000U, 1010U}) {
    facts.threads_there = many;
    EXPECT_EQ(judged(facts, "threads").verdict, Verdict::problem) << many;
  }
  EXPECT_THAT(judged(facts, "threads").remedy, HasSubstr("ulimit -u"));
}

TEST(Doctor, SaysWhereEnginesListen) {
  const std::vector<os::Interface> there = {{"eth0", "10.1.2.3"}, {"ib0", "10.9.9.9"}};
  EXPECT_EQ(judge_interface("ib0", there).finding, "engines listen on ib0 (10.9.9.9)");
  EXPECT_EQ(judge_interface("10.9.9.9", there).finding, "engines listen on ib0 (10.9.9.9)");
  EXPECT_THAT(judge_interface("", there).finding, HasSubstr("eth0 10.1.2.3, ib0 10.9.9.9"));
  EXPECT_EQ(judge_interface("ib7", there).verdict, Verdict::warning);
  EXPECT_THAT(judge_interface("ib7", there).finding, HasSubstr("eth0 10.1.2.3, ib0 10.9.9.9"));
  const auto json =
      run_verb({"doctor", "--quick", "--json", "--set", "redundancy.scheme=xor", "--set", "network.bind=lo"}).json();
  EXPECT_NE(check_named(json, "network", "finding"), "");
  EXPECT_NE(check_named(json, "network provider", "finding"), "") << "whether libfabric has one";
  EXPECT_EQ(check_named(run_verb({"doctor", "--quick", "--json"}).json(), "network provider", "finding"), "")
      << "engines have no network without redundancy";
}

TEST(Doctor, LooksAtTheLimitOfFileSizes) {
  test_support::TemporaryDirectory directory;
  const Variable node("PERDURE_NODE_PATH", directory / "node"), file("PERDURE_TIER_FILE_PATH", directory / "file");
  const Variable stores("PERDURE_STORE_PATH", directory / "store");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit low{1 << 20, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
  const Ran ran = run_verb({"doctor", "--quick"});
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(ran.status, kBad);
  EXPECT_THAT(ran.out, HasSubstr("problem  file size: limit 1.0 MiB"));
  EXPECT_THAT(ran.out, HasSubstr("remedy: ulimit -f unlimited"));
}

// It must not call that good because the nearest existing parent can be written.
TEST(Doctor, ATmpdirThatIsMissingIsAProblemAsForEngines) {
  test_support::TemporaryDirectory directory;
  const Variable node("PERDURE_NODE_PATH", directory / "node"), stores("PERDURE_STORE_PATH", directory / "store");
  const Variable temporary("TMPDIR", directory / "missing");
  const Ran ran = run_verb({"doctor", "--quick"});
  EXPECT_EQ(ran.status, kBad);
  EXPECT_THAT(ran.out, HasSubstr("where TMPDIR leads to: there is no directory " + directory / "missing"));
  EXPECT_THAT(ran.out, HasSubstr("correct TMPDIR, or set tier.file.path"));
  EXPECT_THAT(run_verb({"doctor", "--quick", "--set", "tier.order=memory"}).out, Not(HasSubstr("TMPDIR")))
      << "nobody needs it";
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

// File names of a disk, and reports in it, may hold anything; another program may have written the text `why`.
TEST(Terminal, IsNotDrivenByWhatVerbsShow) {
  SampleStore store;
  store.add("nbody", 1);
  const std::string csi =
                        "\xc2\x9b"
                        "2J",
                    override_ = "\xe2\x80\xae", isolate = "\xe2\x81\xa6",
                    raw =
                        "\x9b"
                        "2J";
  const std::string foreign = "strange" + csi + override_ + isolate + raw + "\x1b[2J";
  ASSERT_TRUE(os::write_file_atomically(store.version_path("nbody", 1) + "/" + foreign, {}));
  const Ran verified = run_verb({"verify", store.path()});
  EXPECT_EQ(verified.status, kGood) << verified.out << verified.err;
  EXPECT_THAT(verified.out, HasSubstr("strange?2J???2J?[2J"));
  const std::string quarantine = store.path() + "/.quarantine";
  const Ran missing = run_verb({"verify", store.path(), "--store", foreign});
  const Ran wrong = run_verb({"prune", "--store", store.path() + foreign});
  const Ran option = run_verb({"ls", "--" + foreign});
  const Ran json = run_verb({"verify", store.path(), "--json"});
  for (const Ran* ran : {&verified, &missing, &wrong, &option, &json})
    for (const std::string& text : {ran->out, ran->err})
      for (const std::string& harm : {csi, override_, isolate, raw, std::string("\x1b"), std::string("\x9b")})
        EXPECT_EQ(text.find(harm), std::string::npos) << text;
  const auto notes = json.json()["notes"];
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes[0]["file"].get<std::string>(), HasSubstr("strange" + csi + override_ + isolate))
      << "programs get the name as it is, in ASCII";
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
