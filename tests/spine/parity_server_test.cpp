// Tests level node with the parity on a server outside of the nodes. A node is lost and comes back without the store;
// the server is lost, full, or absent.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/channel.hpp"
#include "node_loss.hpp"
#include "support/eventually.hpp"
#include "support/sanitized.hpp"
#include "support/strangers.hpp"

namespace {

using namespace perdure;
using namespace perdure::test_support;

class ParityServerLoss : public NodeLoss {
 protected:
  void SetUp() override { start("64MiB"); }
  void TearDown() override {
    end();
    NodeLoss::TearDown();
  }
  std::string file() const { return directory_.path() + "/parity"; }
  std::string with_server() const { return ";redundancy.parity_servers=" + file(); }
  /// Returns once the server has written its file. 0: it may have as many descriptors as this process.
  void start(const std::string& pool, rlim_t descriptors = 0) {
    end();
    fs::remove(file());
    const std::string path = file();
    server_ = ::fork();
    if (server_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const rlimit low{descriptors / 2, descriptors};  // it raises the soft limit to the hard one
      if (descriptors != 0 && ::setrlimit(RLIMIT_NOFILE, &low) != 0) ::_exit(126);
      ::execl(PERDURE_PARITYD_PATH, PERDURE_PARITYD_PATH, "--endpoint", path.c_str(), "--pool", pool.c_str(), "--bind",
              "127.0.0.1", nullptr);
      ::_exit(127);
    }
    ASSERT_TRUE(eventually("the server begins", [&] { return fs::exists(path); }));
  }
  void end() {
    if (server_ <= 0) return;
    ::kill(server_, SIGKILL);
    ::waitpid(std::exchange(server_, -1), nullptr, 0);
  }
  std::string socket_of_node(int node) const {
    config::Config config;
    EXPECT_TRUE(config.set_all(options(), config::Origin::program));
    const std::string key = engine::node_key(config, os::host_name() + "#" + std::to_string(node));
    for (const auto& entry : fs::directory_iterator(directory_.path() + "/node"))
      if (entry.path().filename().string().starts_with(key)) return entry.path().string() + "/socket";
    return {};
  }
  /// Makes one checkpoint that does not reach level node; some rank must get this reason.
  void expect_not_reached(const std::string& why) const {
    SharedMemory<std::atomic<int>> said;
    expect_done(without_store(), with_server(), [&](const Rank& rank, perdure_t* handle, State& state) {
      state.advance(1);
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));
      (void)eventually("somebody says: " + why, [&] {
        if (all_reports(handle).find(why) != std::string::npos) ++*said;
        return *said > 0;
      });
      rank.barrier();
      perdure_level level{};
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_level_reached(handle, "app", 1, &level));
      REQUIRE(level == PERDURE_LEVEL_PROCESS);
      return 0;
    });
    EXPECT_GT(said->load(), 0) << "nobody said: " << why;
  }
  void live_and_die_with_server(int last) const {
    const auto outcome =
        outcome_of(without_store(), with_server(), [&](const Rank& rank, perdure_t* handle, State& state) {
          for (int version = 1; version <= last; ++version)
            REQUIRE(checkpoint_to_node(handle, state, static_cast<std::uint64_t>(version)) == 0);
          rank.barrier();
          ::raise(SIGKILL);
          return 0;
        });
    ASSERT_TRUE(outcome.all(128 + SIGKILL)) << outcome.text();
  }

  pid_t server_ = -1;
};

std::vector<Loss> served() {
  const Loss embedded{"embedded", "embedded", "parity-server", 3, 2, {}, true, ""},
      daemon{"daemon", "daemon", "parity-server", 3, 1, {}, true, ""};
  return unless_sanitized<std::vector<Loss>>({embedded, daemon}, {embedded});
}
INSTANTIATE_TEST_SUITE_P(Modes, ParityServerLoss, ::testing::ValuesIn(served()),
                         [](const auto& param) { return param.param.name; });

TEST_P(ParityServerLoss, ALostNodeComesBackOutOfTheServersParityAgainAndAgain) {
  live_and_die_with_server(3);
  lose({1});
  expect_restored(3, with_server(), " rebuilt");
  lose({2});
  expect_restored(13, with_server(), " rebuilt");
}

TEST_P(ParityServerLoss, TwoLostNodesAreMoreThanOneParity) {
  live_and_die_with_server(2);
  lose({0, 2});
  expect_restored(0, with_server());
}

TEST_P(ParityServerLoss, AServerThatWasStartedAgainHasNothingAndServesWhatComesNext) {
  live_and_die_with_server(2);
  start("64MiB");
  lose({1});
  expect_restored(0, with_server());
}

TEST_P(ParityServerLoss, WithoutRoomTheCheckpointStaysAtItsLowerLevelAndSaysSo) {
  start("64KiB");
  expect_not_reached("it does not reach level node");
}

// Threads make the requests to a server. If an engine made them on its event loop, it would answer no one meanwhile.
// After its timeout it would report nothing about the server.
TEST_P(ParityServerLoss, AServerThatHangsKeepsNobodyElseWaiting) {
  const auto part = [&](const Rank& rank, perdure_t* handle, State& state) {
    REQUIRE(checkpoint_to_node(handle, state, 1) == 0);
    rank.barrier();
    if (rank.rank != 0) return 0;
    auto channel = ipc::Channel::connect(socket_of_node(0));
    REQUIRE(channel);
    ipc::Hello tool;
    tool.client = false;
    REQUIRE(channel->call(tool));
    const auto here = channel->call(ipc::Inventory{"app", false});
    REQUIRE(here && !here->held.empty());
    ::kill(server_, SIGSTOP);
    const auto keeps_of_all = channel->post(ipc::Inventory{"", true});
    const auto keeps = channel->post(ipc::Inventory{"app", true});
    const auto progress = channel->call(ipc::Progress{});
    ::kill(server_, SIGCONT);
    REQUIRE(keeps_of_all && keeps && progress);
    for (const auto& posted : {*keeps_of_all, *keeps}) {
      const auto kept = channel->await(posted);
      REQUIRE(kept && kept->kept && std::any_of(kept->kept->begin(), kept->kept->end(), [](const auto& summary) {
                return summary.position == summary.members.size();  // the server's position
              }));
    }
    return 0;
  };
  expect_done(without_store(), with_server(), part);
}

TEST_P(ParityServerLoss, StrangersTakeFewOfItsDescriptorsAndKeepNobodyOut) {
  constexpr rlim_t kDescriptors = 256;
  start("64MiB", kDescriptors);
  const std::size_t calm = descriptors_of(server_);
  const Strangers strangers(listeners_of(server_), 400);
  EXPECT_TRUE(eventually("1000 strangers are turned away", [&] { return strangers.turned_away() >= 1000; }));
  live_and_die_with_server(3);
  // Connections of engines that have just died stay for a moment; the few that unauthenticated peers keep stay.
  const std::size_t most = calm + kDescriptors / 8 + 3 * 4;
  EXPECT_TRUE(eventually("it has few descriptors", [&] { return descriptors_of(server_) <= most; }));
  lose({1});
  expect_restored(3, with_server(), " rebuilt");
}

TEST_P(ParityServerLoss, ADeadServerCostsTheLevelAndNothingElse) {
  end();
  expect_not_reached("it does not reach level node");
}

TEST_P(ParityServerLoss, AServerThatNobodyStartedIsAMistakeThatIsNamed) {
  const auto outcome = run_ranks(without_store(), [&](const Rank& rank) {
    perdure_t* handle = nullptr;
    char message[512] = {};
    const std::string text = options(";redundancy.parity_servers=/nowhere/parity");
    REQUIRE(perdure_open_communicator(&rank.communicator, text.c_str(), &handle, message, sizeof message) !=
            PERDURE_OK);
    REQUIRE(rank.rank != 0 || std::string(message).find("/nowhere/parity") != std::string::npos);
    return 0;
  });
  kill_engines(directory_.path());
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
}

}  // namespace
