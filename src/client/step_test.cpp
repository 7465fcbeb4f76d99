// Ranks tell their engine how long the application had them.
#include <gtest/gtest.h>

#include <array>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "client/session.hpp"
#include "os/file.hpp"
#include "os/system.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::client {
namespace {

class Steps : public testing::Test {
 protected:
  void SetUp() override {
    const std::string at = directory_.path();
    auto session = Session::open(comm::make_solo(),
                                 ("store.path=" + at + "/store;node.path=" + at + "/node;tier.file.path=" + at +
                                  "/file;chunk_bytes=128KiB;" + "tier.memory.max_bytes=16MiB;tier.file.max_bytes=16MiB")
                                     .c_str());
    ASSERT_TRUE(session) << session.error().text();
    session_ = std::move(*session);
    ASSERT_TRUE(session_->protect({1, memory_.data(), 1, memory_.size()}));
  }
  void TearDown() override { EXPECT_TRUE(session_->close()); }
  std::string socket() const {
    const auto entries = os::list_directory(directory_ / "node").value();
    for (const auto& entry : entries)
      if (os::exists(directory_ / "node/" + entry.name + "/socket").value()) return entry.name + "/socket";
    return {};
  }
  std::uint64_t steps() const {
    auto channel = ipc::Channel::connect(directory_ / "node/" + socket()).value();
    ipc::Hello hello;
    hello.client = false;
    EXPECT_TRUE(channel.call(hello));
    const auto engine = base::decode_cbor(channel.call(ipc::Top{}).value().cbor, "top").value();
    return engine["application"]["steps"].get<std::uint64_t>();
  }
  test_support::TemporaryDirectory directory_;
  std::array<std::byte, 1000> memory_{};
  std::unique_ptr<Session> session_;
};

TEST_F(Steps, AreWhatIsBetweenTwoCheckpoints) {
  for (int version = 0; version < 4; ++version) {
    EXPECT_EQ(steps(), version == 0 ? 0u : version - 1u);
    ASSERT_TRUE(session_->checkpoint("app", version));
    os::sleep_ns(1'000'000);  // wait: the application computes
  }
  EXPECT_EQ(steps(), 3u);
}

TEST_F(Steps, WithARestoreOrAWaitBetweenSayNothing) {
  ASSERT_TRUE(session_->checkpoint("app", 0));
  ASSERT_TRUE(session_->wait("app", 0, PERDURE_LEVEL_STORE, 60));
  ASSERT_TRUE(session_->checkpoint("app", 1));
  ASSERT_TRUE(session_->restore("app", 1, {}));
  ASSERT_TRUE(session_->checkpoint("app", 2));
  EXPECT_EQ(steps(), 0u);
  os::sleep_ns(1'000'000);  // wait: the application computes
  ASSERT_TRUE(session_->checkpoint("app", 3));
  EXPECT_EQ(steps(), 1u);
}

}  // namespace
}  // namespace perdure::client
