// --set means the same with every verb. Errors are JSON if the user asks for JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/json.hpp"
#include "cli/launched_testing.hpp"

namespace perdure::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Gives the verb, with its required arguments.
std::vector<std::string> called(const Verb& verb, const std::vector<std::string>& more) {
  std::vector<std::string> arguments{verb.name};
  if (arguments[0] == "show" || arguments[0] == "forget" || arguments[0] == "halt") arguments.emplace_back("nbody");
  if (arguments[0] == "rename") arguments.insert(arguments.end(), {"nbody", "heat"});
  if (arguments[0] == "export") arguments.insert(arguments.end(), {"nbody", "--to", "none.h5"});
  if (arguments[0] == "import") arguments.insert(arguments.end(), {"none.h5", "nbody@1"});
  if (arguments[0] == "cat") arguments.insert(arguments.end(), {"nbody", "1"});
  if (arguments[0] == "diff") arguments.insert(arguments.end(), {"nbody@1", "nbody@2"});
  if (arguments[0] == "plot") arguments.insert(arguments.end(), {"nbody", "1"});
  if (arguments[0] == "capture" || arguments[0] == "inspect") arguments.emplace_back("1");
  if (arguments[0] == "resume") arguments.emplace_back("nbody");
  if (arguments[0] == "track") arguments.emplace_back("none.json");
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(Settings, EveryVerbTakesSetAndRefusesWhatIsNone) {
  for (const Verb& verb : verbs()) {
    EXPECT_THAT(run_verb({verb.name, "--help"}).out, HasSubstr("--set")) << verb.name;
    const Ran key = run_verb(called(verb, {"--set", "stor.path=x"}));
    const Ran value = run_verb(called(verb, {"--set", "job=a", "--set", "flush.threads=no"}));
    EXPECT_EQ(key.status, kUsage) << verb.name;
    EXPECT_THAT(key.err, AllOf(HasSubstr("stor.path"), HasSubstr("store.path"))) << verb.name;
    EXPECT_EQ(value.status, kUsage) << verb.name;
    EXPECT_THAT(value.err, HasSubstr("flush.threads")) << verb.name;
  }
}

// A verb that loads a configuration by itself would not know of --set.
TEST(Settings, NoVerbLoadsAConfigurationPastThem) {
  int sources = 0;
  for (const auto& entry : std::filesystem::directory_iterator(PERDURE_CLI_SOURCES)) {
    const std::string name = entry.path().filename();
    if (!name.ends_with("pp") || name.starts_with("configuration")) continue;
    ++sources;
    const std::string text = text_of(entry.path());
    for (const std::string call : {"effective_config(", "config::load(", "config::load_from("})
      EXPECT_EQ(text.find(call), std::string::npos) << name << " calls " << call << "): use configuration(terminal)";
  }
  EXPECT_GT(sources, 40);
}

TEST(Settings, ReachTheVerbsThatUseThem) {
  SampleStore store;
  store.add("nbody", 3);
  const Variable elsewhere("PERDURE_STORE_PATH", "/nonexistent/store");
  const std::string set = "store.path=" + store.path();
  EXPECT_THAT(run_verb({"ls", "--set", set}).out, HasSubstr("nbody"));
  EXPECT_THAT(run_verb({"show", "nbody", "--set", set}).out, HasSubstr("nbody version 3"));
  EXPECT_EQ(run_verb({"verify", "nbody@3", "--set", set}).status, kGood);
  EXPECT_EQ(run_verb({"prune", "--set", set, "--set", "retention.keep_last=1"}).out, "nothing to remove\n");
  store.add("nbody", 4);
  EXPECT_THAT(run_verb({"prune", "--set", set, "--set", "retention.keep_last=1"}).out, HasSubstr("nbody version 3"));
  EXPECT_THAT(run_verb({"doctor", "--quick", "--set", set}).out, HasSubstr("store: " + store.path()));
  const std::string node = store.directory() / "nodes";
  EXPECT_THAT(run_verb({"top", "--once", "--set", "node.path=" + node}).out, HasSubstr(node));
  EXPECT_THAT(run_verb({"config", "--set", "job=mine"}).out, HasSubstr("mine"));
}

TEST(Settings, OfSimulateAreTheSizeOfChunksAndTheFlushThreads) {
  const std::vector<std::string> common{
      "simulate", std::string(PERDURE_DEVICES) + "/veloc-node.toml", "--policy", "adaptive", "--writers", "4",
      "--json"};
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), common.begin(), common.end());
    return run_verb(more).json()["rows"];
  };
  EXPECT_EQ(with({"--set", "chunk_bytes=16MiB", "--set", "flush.threads=3"}),
            with({"--chunk-bytes", "16MiB", "--flush-threads", "3"}));
  EXPECT_NE(with({"--set", "chunk_bytes=16MiB"}), with({}));
  EXPECT_EQ(with({"--set", "chunk_bytes=16MiB", "--chunk-bytes", "64MiB"}), with({})) << "the option goes first";
}

/// Gives the only JSON value on standard output, which must be an error with all its members.
base::Json error_of(const Ran& ran, const std::string& about) {
  const auto json = ran.json();
  EXPECT_TRUE(json.is_object() && json.size() == 1) << about << ": " << ran.out;
  const base::Json error = json.is_object() ? json.value("error", base::Json::object()) : base::Json::object();
  for (const char* field : {"code", "object", "cause", "remedy"}) {
    EXPECT_TRUE(error.contains(field) && error[field].is_string()) << about << ": " << field << ": " << ran.out;
  }
  EXPECT_TRUE(error.contains("retryable") && error["retryable"].is_boolean()) << about;
  EXPECT_NE(ran.err, "") << about << ": people read it, too";
  return error;
}

/// Runs a verb with --json: a flag, but for `run` the name of a file.
Ran run_for_json(std::vector<std::string> arguments, const std::string& file) {
  const bool run = takes_program(arguments[0]);
  arguments.insert(arguments.begin() + 1, "--json");
  if (run) {
    arguments.insert(arguments.begin() + 2, file);
    arguments.emplace_back("--");
  }
  Ran ran = run_verb(arguments);
  if (run) {
    EXPECT_EQ(ran.out, "") << "this is the program's";
    ran.out = text_of(file);
  }
  return ran;
}

TEST(JsonErrors, OfTheCommandLineAreJsonWithEveryVerb) {
  test_support::TemporaryDirectory directory;
  for (const Verb& verb : verbs()) {
    const Ran option = run_for_json(called(verb, {"--no-such-option"}), directory / "json");
    EXPECT_EQ(option.status, kUsage) << verb.name;
    const auto error = error_of(option, verb.name);
    EXPECT_EQ(error["code"], "invalid-argument") << verb.name;
    EXPECT_THAT(error["object"].get<std::string>(), HasSubstr("--no-such-option")) << verb.name;
    const Ran setting = run_for_json(called(verb, {"--set", "no.such=1"}), directory / "json");
    EXPECT_EQ(setting.status, kUsage) << verb.name;
    EXPECT_THAT(error_of(setting, verb.name).dump(), HasSubstr("no.such")) << verb.name;
  }
}

TEST(JsonErrors, OfWhatCannotBeDoneAreJsonToo) {
  test_support::TemporaryDirectory directory;
  const std::string gone = directory / "gone", file = directory / "json";
  const std::vector<std::vector<std::string>> failing{{"ls", gone},
                                                      {"show", "nbody", "--store", gone},
                                                      {"verify", gone},
                                                      {"prune", "--store", gone},
                                                      {"forget", "nbody", "--store", gone},
                                                      {"halt", "nbody", "--now", "--store", gone},
                                                      {"calibrate", "--emulated", gone},
                                                      {"simulate", gone}};
  for (const auto& arguments : failing) {
    const Ran ran = run_for_json(arguments, file);
    EXPECT_THAT(ran.status, testing::AnyOf(kCannot, kUsage)) << arguments[0];
    EXPECT_NE(error_of(ran, arguments[0])["cause"], "") << arguments[0];
  }
  EXPECT_EQ(error_of(run_for_json({"run", "--restarts", "1"}, file), "run")["cause"], "no program given");
  const Variable wrong("PERDURE_FLUSH_THREADS", "none");
  for (const char* verb : {"config", "doctor", "top", "prune"})
    EXPECT_THAT(error_of(run_for_json({verb}, file), verb)["object"].get<std::string>(),
                HasSubstr("PERDURE_FLUSH_THREADS"))
        << verb;
}

TEST(JsonErrors, AFileThatMayBeTheProgramsIsNotTouched) {
  test_support::TemporaryDirectory directory;
  const std::string results = directory / "results";
  std::ofstream(results) << "mine";
  EXPECT_EQ(run_verb({"run", "./simulation", "--json", results}).status, kUsage);
  EXPECT_EQ(text_of(results), "mine");
  EXPECT_EQ(run_verb({"run", "--json", "--restarts", "3", "--", "./simulation"}).status, kUsage);
  EXPECT_FALSE(std::filesystem::exists("--restarts")) << "an option is no name of a file";
}

TEST(JsonErrors, WithoutAVerbTheyAreJsonWhenJsonIsAskedFor) {
  EXPECT_EQ(error_of(run_verb({"lss", "--json"}), "lss")["object"], "perdure lss");
  EXPECT_EQ(run_verb({"lss"}).out, "");
  EXPECT_EQ(run_verb({"ls", "--", "--json"}).out, "") << "behind -- it is no option";
}

}  // namespace
}  // namespace perdure::cli
