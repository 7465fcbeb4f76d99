// perdure metrics asks engines that live in this process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "base/json.hpp"
#include "cli/verb_testing.hpp"
#include "engine/host/engine.hpp"
#include "ipc/channel.hpp"
#include "os/socket.hpp"

namespace perdure::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class MetricsVerb : public testing::Test {
 protected:
  std::unique_ptr<engine::Engine> start(const std::string& label, const std::string& job = "mine") {
    const std::string at = directory_.path();
    config::Config config;
    EXPECT_TRUE(config.set_all("store.path=" + at + "/store;node.path=" + node() + ";tier.file.path=" + at +
                                   "/file;tier.order=file;tier.file.max_bytes=128KiB;chunk_bytes=64KiB;job=" + job,
                               config::Origin::program));
    auto claimed = engine::claim(config, label);
    return engine::Engine::start(config, std::get<engine::Claim>(std::move(*claimed)), false).value();
  }
  std::string node() const { return directory_.path() + "/node"; }
  static std::string content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::vector<std::string> lines_of(const std::string& page) {
    std::vector<std::string> lines;
    std::istringstream text(page);
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }
  /// Gives the values that only events change.
  static std::string counters_in(const std::string& page) {
    std::string all;
    for (const std::string& line : lines_of(page))
      if (!line.starts_with("#") && line.substr(0, line.find_first_of("{ ")).ends_with("_total")) all += line + "\n";
    return all;
  }
  /// Gives the series, without their values.
  static std::vector<std::string> names_in(const std::string& page) {
    auto names = lines_of(page);
    for (std::string& name : names)
      if (!name.starts_with("#")) name.resize(name.rfind(' '));
    return names;
  }
  test_support::TemporaryDirectory directory_;
  Variable node_{"PERDURE_NODE_PATH", directory_.path() + "/node"};
};

TEST_F(MetricsVerb, SaysWhereItLookedWhenNoEngineRuns) {
  const Ran ran = run_verb({"metrics"});
  EXPECT_EQ(ran.status, kGood);
  EXPECT_THAT(ran.err, HasSubstr("no engine of this user runs in " + node()));
  EXPECT_THAT(ran.err, HasSubstr("--node"));
  EXPECT_EQ(ran.out.substr(ran.out.find("\nperdure_") + 1), "perdure_engines 0\n");
  EXPECT_EQ(run_verb({"metrics", "--json"}).json()["engines"], 0);
}

TEST_F(MetricsVerb, MergesTheFamiliesOfAllEngines) {
  const auto first = start("a"), second = start("b", "quo\"ted");
  const Ran ran = run_verb({"metrics"});
  EXPECT_EQ(ran.status, kGood);
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out, HasSubstr("\nperdure_engines 2\n"));
  const std::string head = "# TYPE perdure_tier_slots gauge\n";
  EXPECT_EQ(ran.out.find(head), ran.out.rfind(head)) << "once for both";
  EXPECT_THAT(ran.out, HasSubstr(",node=\"a\",perdure_job=\"mine\",tier=\"file\"} 2\n"));
  EXPECT_THAT(ran.out, HasSubstr(",node=\"b\",perdure_job=\"quo\\\"ted\",tier=\"file\"} 2\n"));
  const base::Json json = run_verb({"metrics", "--json"}).json();
  EXPECT_EQ(json["engines"], 2);
  const auto up = std::find_if(json["families"].begin(), json["families"].end(),
                               [](const base::Json& family) { return family["name"] == "perdure_engine_up"; });
  ASSERT_NE(up, json["families"].end());
  ASSERT_EQ((*up)["samples"].size(), 2u);
  EXPECT_EQ((*up)["samples"][0]["value"], 1);
  EXPECT_EQ((*up)["samples"][0]["labels"].size(), 3u);
}

TEST_F(MetricsVerb, LooksWhereItIsTold) {
  const auto engine = start("a");
  const Variable elsewhere("PERDURE_NODE_PATH", directory_ / "elsewhere");
  EXPECT_THAT(run_verb({"metrics"}).out, HasSubstr("perdure_engines 0\n"));
  EXPECT_THAT(run_verb({"metrics", "--node", node()}).out, HasSubstr("perdure_engines 1\n"));
  const Ran both = run_verb({"metrics", "--node", node(), "--node", directory_ / "elsewhere"});
  EXPECT_THAT(both.out, HasSubstr(",directory=\"" + node() + "\",node=\"a\""));
  for (const std::string& same : {node(), node() + "/", directory_ / "elsewhere/../node"})
    EXPECT_THAT(run_verb({"metrics", "--node", node(), "--node", same}).out, HasSubstr("perdure_engines 1\n")) << same;
  std::ofstream(directory_ / "no-directory") << "no directory";
  EXPECT_EQ(run_verb({"metrics", "--node", directory_ / "no-directory"}).status, kCannot);
}

TEST_F(MetricsVerb, AnEngineThatDoesNotAnswerIsDown) {
  const auto engine = start("a");
  const std::string hung = node() + "/0123456789abcdef.0";
  ASSERT_TRUE(os::make_directories(hung));
  const os::Fd listener = os::listen_at(hung + "/socket").value();  // accepts, and sends nothing
  const Ran ran = run_verb({"metrics"});
  EXPECT_EQ(ran.status, kGood);
  EXPECT_THAT(ran.out, HasSubstr("perdure_engine_up{engine=\"0123456789abcdef.0\"} 0\n"));
  EXPECT_THAT(ran.out, HasSubstr(",node=\"a\",perdure_job=\"mine\"} 1\n")) << "the other one is there";
  EXPECT_THAT(ran.err, HasSubstr("perdure: "));
}

TEST_F(MetricsVerb, AnEngineThatTakesNoConnectionsIsDownAndNotWaitedFor) {
  const auto engine = start("a");
  const std::string hung = node() + "/0123456789abcdef.0", socket = hung + "/socket";
  ASSERT_TRUE(os::make_directories(hung));
  const os::Fd listener = os::listen_at(socket).value();
  ASSERT_EQ(::listen(listener.get(), 0), 0);
  std::vector<os::Fd> queue;
  while (auto next = os::connect_at_once(socket)) queue.push_back(std::move(*next));
  const Ran ran = run_verb({"metrics"});
  EXPECT_EQ(ran.status, kGood);
  EXPECT_THAT(ran.out, HasSubstr("perdure_engines 2\n"));
  EXPECT_THAT(ran.out, HasSubstr("perdure_engine_up{engine=\"0123456789abcdef.0\"} 0\n"));
  EXPECT_THAT(ran.out, HasSubstr(",node=\"a\",perdure_job=\"mine\"} 1\n"));
  EXPECT_THAT(ran.err, HasSubstr("accepts no connection"));
}

TEST_F(MetricsVerb, AScrapeChangesNothingAndLeavesNoClient) {
  const auto engine = start("a");
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(run_verb({"metrics"}).out, HasSubstr("perdure_clients{")) << "a tool is no client";
  const std::string before = counters_in(run_verb({"metrics"}).out), after = counters_in(run_verb({"metrics"}).out);
  EXPECT_EQ(before, after);
  EXPECT_THAT(after, HasSubstr("perdure_checkpoints_begun_total{"));
  for (const std::string& line : lines_of(run_verb({"metrics"}).out))
    if (line.starts_with("perdure_clients{")) {
      EXPECT_TRUE(line.ends_with("} 0")) << line;
    }
}

TEST_F(MetricsVerb, WritesAFileThatAnotherUserMayRead) {
  const auto engine = start("a");
  const std::string file = directory_ / "perdure.prom";
  std::ofstream(file) << "old";
  const Ran ran = run_verb({"metrics", "--output", file});
  EXPECT_EQ(ran.status, kGood) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(names_in(content(file)), names_in(run_verb({"metrics"}).out));
  EXPECT_THAT(content(file), HasSubstr("\nperdure_engines 1\n"));
  struct stat facts {};
  ASSERT_EQ(::stat(file.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0644u);
  EXPECT_EQ(::access((file + ".next").c_str(), F_OK), -1);
  const Ran refused = run_verb({"metrics", "--output", directory_ / "no/such/directory"});
  EXPECT_EQ(refused.status, kCannot);
  EXPECT_THAT(refused.err, HasSubstr("no/such/directory"));
}

TEST_F(MetricsVerb, WrongUsageIsRefused) {
  EXPECT_EQ(run_verb({"metrics", "--listen", "1234", "--json"}).status, kUsage);
  EXPECT_EQ(run_verb({"metrics", "--listen", "1234", "--output", "x"}).status, kUsage);
  EXPECT_EQ(run_verb({"metrics", "--json", "--output", "x"}).status, kUsage);
  EXPECT_EQ(run_verb({"metrics", "--listen", "nonsense"}).status, kUsage);
  EXPECT_EQ(run_verb({"metrics", "surplus"}).status, kUsage);
}

}  // namespace
}  // namespace perdure::cli
