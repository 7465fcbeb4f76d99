// Tests that an engine neither reports that it is done nor ends before retention was told of the last flush.
#include "engine/flush/flusher_testing.hpp"
#include "engine/pipeline/pipeline.hpp"
#include "engine/serve/server.hpp"
#include "engine/upkeep/janitor.hpp"
#include "ipc/channel.hpp"
#include "os/socket.hpp"
#include "support/quiescent.hpp"

namespace perdure::engine {
namespace {

class ServerEnd : public FlusherFixture {
 protected:
  void SetUp() override {
    open({8});
    made = std::move(*store::make_store(directory / "store"));
    pipeline = std::make_unique<Pipeline>(*ledger, reports, std::vector<Pipeline::Part>{}, [] {});
    janitor = std::make_unique<Janitor>(*made, reports, plan::RetentionPolicy{}, [] {});
    flusher = std::make_unique<Flusher>(
        *ledger, *made, reports, FlusherOptions{},
        [this](const segment::VersionId&, bool) {
          ++told;
          held.wait(true);
        },
        [this] {
          if (auto* listening = server.load()) listening->wake();
        });
  }
  void TearDown() override {
    let_go();
    owned->close();
    flusher->stop();
    server = nullptr;
    FlusherFixture::TearDown();
  }
  std::string socket() const { return directory / "socket"; }
  void let_go() {
    held = false;
    held.notify_all();
  }
  /// Stores a version and blocks the thread that is told of it. Then it starts a server, which is never idle.
  void store_and_hold() {
    held = true;
    {
      const auto guard = ledger->lock();
      ASSERT_TRUE(checkpoint(1));
    }
    flusher->notify();
    ASSERT_TRUE(await("somebody is told of the version", [&] { return told == 1; }));
    ASSERT_TRUE(await("the version is stored", [&] { return core->find(id(1))->all_stored(); }));
    ServerOptions options;
    options.idle_exit_ns = kMillisecond;
    owned = std::make_unique<Server>(*ledger, *flusher, *janitor, *pipeline, reports, os::listen_at(socket()).value(),
                                     options);
    server = owned.get();
  }
  std::unique_ptr<Pipeline> pipeline;
  std::unique_ptr<Janitor> janitor;
  std::unique_ptr<Server> owned;
  std::atomic<Server*> server = nullptr;
  std::atomic<int> told = 0;
  std::atomic<bool> held = false;
};

TEST_F(ServerEnd, ADrainIsNotAnsweredBefore) {
  store_and_hold();
  auto channel = ipc::Channel::connect(socket()).value();
  ASSERT_TRUE(channel.call(ipc::Hello{}));
  std::atomic<bool> answered = false;
  std::thread waiter([&] { answered = channel.call(ipc::Drain{0}).has_value(); });
  ASSERT_TRUE(test_support::quiescent());  // a wrong answer would be here by then
  EXPECT_FALSE(answered);
  let_go();
  waiter.join();
  EXPECT_TRUE(answered);
}

TEST_F(ServerEnd, NeitherDoesAnIdleOneEndBefore) {
  store_and_hold();
  std::atomic<bool> over = false;
  std::thread waiter([&] {
    owned->wait_until_over();
    over = true;
  });
  os::shift_monotonic_clock(kHour);  // much longer than it may be idle
  owned->wake();
  ASSERT_TRUE(test_support::quiescent());
  EXPECT_FALSE(over);
  let_go();
  waiter.join();
  os::shift_monotonic_clock(-static_cast<std::int64_t>(kHour));
}

}  // namespace
}  // namespace perdure::engine
