// Checkpoints that come faster than the store takes them.
#include <gmock/gmock.h>

#include <condition_variable>
#include <mutex>

#include "engine/host/engine_testing.hpp"
#include "os/thread.hpp"
#include "store/store.hpp"
#include "support/eventually.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kFastBytes = 64 * base::KiB;

/// Whoever writes to the store waits until it goes on.
class StoppedStore : public os::Hooks {
 public:
  explicit StoppedStore(std::string path) : path_(std::move(path)) {}
  int before(const os::Operation& operation) override {
    if (operation.call != std::string_view("pwrite") || !operation.path.starts_with(path_)) return 0;
    std::unique_lock guard(mutex_);
    waits_ = true;
    changed_.wait(guard, [this] { return goes_on_; });
    return 0;
  }
  bool waits() {
    const std::lock_guard guard(mutex_);
    return waits_;
  }
  void go_on() {
    {
      const std::lock_guard guard(mutex_);
      goes_on_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::string path_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool waits_ = false, goes_on_ = false;
};

class FastCheckpoints : public EngineFixture {
 protected:
  void SetUp() override {
    const auto started = start("tier.order=file;chunk_bytes=64KiB;tier.file.max_bytes=4MiB;flush.during_capture=never");
    ASSERT_TRUE(started) << started.error().text();
    rank_ = client();
  }
  void TearDown() override { store_.go_on(); }
  static segment::VersionId id(std::uint64_t version) { return {"app", version, {version, 1}}; }
  void checkpoint(std::uint64_t version) {
    segment::Piece piece{0, kFastBytes, {{0, 1, kFastBytes}}, {}};
    piece.chunks.push_back({0, kFastBytes, {}, 0});
    ASSERT_TRUE(rank_.tell(ipc::Begin{id(version), 1, piece, {{0, 1, {0}}}}));
    const auto granted = rank_.call(ipc::Grant{id(version), kFastBytes, 0, {}, {}});
    ASSERT_TRUE(granted) << granted.error().text();
    const auto hash = base::hash128(std::vector<std::byte>(kFastBytes));  // preallocated slots are zeros
    piece.chunks[0] = {granted->slot.slot, kFastBytes, hash, granted->slot.tier};
    const ipc::Written written{id(version), 0, 0, granted->slot.tier, granted->slot.slot, kFastBytes, hash};
    ASSERT_TRUE(rank_.call(ipc::AwaitWritten{written}));
    ASSERT_TRUE(rank_.call(ipc::Stage{id(version), 1, piece}));
    ASSERT_TRUE(rank_.call(ipc::Commit{id(version), {{0, 1, {0}}}}));
  }
  std::vector<std::uint64_t> stored() {
    std::vector<std::uint64_t> versions;
    const auto listings = store::make_store(directory_ / "store").value()->list("app").value();
    for (const auto& listing : listings) versions.push_back(listing.id.version);
    return versions;
  }

  StoppedStore store_{directory_ / "store"};
  test_support::InstalledHooks installed_{store_};
  ipc::Channel rank_;
};

TEST_F(FastCheckpoints, AreSkippedAndAWaitForOneOfThemEndsWithSomethingNewer) {
  checkpoint(1);
  ASSERT_TRUE(test_support::eventually("the first flush has begun", [this] { return store_.waits(); }));
  for (std::uint64_t version = 2; version <= 6; ++version) checkpoint(version);
  const auto early = rank_.call(ipc::WaitStored{id(3), 1});
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, PERDURE_TIMEOUT);
  EXPECT_THAT(early.error().text(), HasSubstr("it was skipped"));
  store_.go_on();
  const auto waited = rank_.call(ipc::WaitStored{id(3), 0});
  ASSERT_TRUE(waited) << waited.error().text();
  EXPECT_FALSE(waited->held);
  ASSERT_TRUE(waited->newer);
  EXPECT_GE(*waited->newer, 5u);
  const auto report = rank_.call(ipc::NextReport{}).value().text;
  ASSERT_TRUE(report);
  EXPECT_THAT(*report, HasSubstr("app version 3 was skipped, as retention would have removed it"));
  ASSERT_TRUE(rank_.call(ipc::WaitStored{id(3), 0}));
  EXPECT_FALSE(rank_.call(ipc::NextReport{}).value().text) << "it was told";
  ASSERT_TRUE(rank_.call(ipc::WaitStored{id(6), 0}));
  EXPECT_THAT(stored(), ElementsAre(1, 5, 6)) << "no thread retires: nobody said that this is the first node";
  EXPECT_FALSE(rank_.call(ipc::WaitStored{{"app", 77, {}}, 0}).value().newer) << "it never was";
}

TEST_F(FastCheckpoints, ThatARankWaitsForAreBroughtToTheStore) {
  checkpoint(1);
  ASSERT_TRUE(test_support::eventually("the first flush has begun", [this] { return store_.waits(); }));
  checkpoint(2);
  ipc::Channel other = client(1);
  std::optional<base::Result<ipc::StoreOutcome>> outcome;
  auto waiter = os::Thread::start(
      "waiter",
      [&] {
        outcome = other.call(ipc::WaitStored{id(2), 0});
      },
      [](const base::Error&) { return false; });
  ASSERT_TRUE(waiter);
  const struct GoOn {  // whatever fails: the waiter is joined
    StoppedStore& store;
    ~GoOn() { store.go_on(); }
  } go_on{store_};
  // Whoever comes later is not answered before the wait was heard.
  ASSERT_TRUE(test_support::eventually("the wait has come", [this] {
    const auto seen = rank_.call(ipc::Top{});
    return seen && std::string_view(reinterpret_cast<const char*>(seen->cbor.data()), seen->cbor.size())
                           .find("app version 2 is not stored") != std::string_view::npos;
  }));
  for (std::uint64_t version = 3; version <= 6; ++version) checkpoint(version);
  store_.go_on();
  waiter->join();
  ASSERT_TRUE(outcome && *outcome) << outcome->error().text();
  EXPECT_TRUE((*outcome)->held);
  EXPECT_FALSE((*outcome)->newer);
}

}  // namespace
}  // namespace perdure::engine
