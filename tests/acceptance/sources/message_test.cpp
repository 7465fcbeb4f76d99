// Tests the message that the acceptance test of the layout adds. An engine answers it over its socket with a reply of
// its own type, and refuses a client that did not greet.
#include <gtest/gtest.h>

#include "damage.hpp"
#include "ipc/channel.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure;
using namespace perdure::test_support;

std::string socket_in(const std::string& directory) {
  for (const auto& entry : fs::directory_iterator(directory + "/node"))
    if (fs::exists(entry.path() / "socket")) return (entry.path() / "socket").string();
  return {};
}

class AddedMessage : public ::testing::TestWithParam<const char*> {
 protected:
  void TearDown() override { stop_daemons(directory_.path()); }
  TemporaryDirectory directory_;
};
INSTANTIATE_TEST_SUITE_P(Modes, AddedMessage, ::testing::Values("embedded", "daemon"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(AddedMessage, IsAnsweredByTheEngineWithItsOwnReply) {
  RunOptions two;
  two.ranks = 2;
  const auto outcome = run_ranks(two, [&](const Rank& rank) {
    perdure_t* handle = rank.open(options_in(directory_.path(), GetParam()));
    if (rank.rank == 0) {
      auto channel = ipc::Channel::connect(socket_in(directory_.path()));
      REQUIRE(channel);
      const auto before = channel->call(ipc::CountClients{});
      REQUIRE(!before && before.error().code == PERDURE_INVALID_ARGUMENT);
      ipc::Hello tool;
      tool.client = false;
      REQUIRE(channel->call(tool));
      const base::Result<ipc::ConnectedClients> connected = channel->call(ipc::CountClients{});
      REQUIRE(connected && connected->ranks == 2 && connected->tools == 1);
    }
    rank.barrier();
    REQUIRE_STATUS(PERDURE_OK, nullptr, perdure_close(&handle));
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
}

}  // namespace
