// Tests the residue of dead engines on a node that is full.
#include <gmock/gmock.h>

#include <filesystem>

#include "engine/host/engine_testing.hpp"
#include "node/dead_engine_testing.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::engine {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t kRoomBytes = 64 * base::KiB;

/// A file system that is full while `taken` returns true: `call` fails on paths that contain `path`.
class FullFileSystem : public os::Hooks {
 public:
  explicit FullFileSystem(std::function<bool()> taken, std::string call = "statfs", std::string path = {})
      : taken_(std::move(taken)), call_(std::move(call)), path_(std::move(path)) {}
  int before(const os::Operation& operation) override {
    const bool meant = operation.call == call_ && operation.path.find(path_) != std::string::npos;
    return meant && taken_() ? ENOSPC : 0;
  }

 private:
  std::function<bool()> taken_;
  std::string call_, path_;
};

class LeftRoom : public EngineFixture {
 protected:
  void start_on_full_node(std::function<bool()> taken) {
    hooks_ = std::make_unique<FullFileSystem>(std::move(taken));
    installed_ = std::make_unique<test_support::InstalledHooks>(*hooks_);
    const auto started = start("tier.order=file;chunk_bytes=64KiB;job=mine");
    ASSERT_TRUE(started) << started.error().text();
    rank_ = client();
  }
  base::Result<ipc::Granted> grant(std::uint64_t version) {
    const segment::VersionId id{"app", version, {version, 1}};
    segment::Piece piece{0, kRoomBytes, {{0, 1, kRoomBytes}}, {}};
    piece.chunks.push_back({0, kRoomBytes, {}, 0});
    EXPECT_TRUE(rank_.tell(ipc::Begin{id, 1, piece, {{0, 1, {0}}}}));
    return rank_.call(ipc::Grant{id, kRoomBytes, 0, {}, {}});
  }

  node::DeadEngines dead_{directory_.path()};
  std::unique_ptr<FullFileSystem> hooks_;
  std::unique_ptr<test_support::InstalledHooks> installed_;
  ipc::Channel rank_;
};

TEST_F(LeftRoom, ThatTheirStoresHaveGoesAtOnceToWhoNeedsIt) {
  dead_.leave("one", {1, 2});
  dead_.store("one", 1);
  dead_.store("one", 2);
  dead_.leave("two", {3});
  start_on_full_node([this] { return dead_.there("one"); });
  const auto granted = grant(1);
  ASSERT_TRUE(granted) << granted.error().text();
  EXPECT_FALSE(dead_.there("one"));
  EXPECT_TRUE(dead_.there("two")) << "its store lacks it";
}

TEST_F(LeftRoom, ThatTheirStoresLackIsNamedWhereThereIsNone) {
  dead_.leave("one", {1});
  dead_.store("one", 1);
  dead_.leave("two", {3});
  start_on_full_node([] { return true; });
  const auto refused = grant(1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_NO_SPACE);
  EXPECT_THAT(refused.error().text(),
              AllOf(HasSubstr("job 'two' with store " + dead_.store_of("two") + ": run version 3 (4.9 KiB)"),
                    HasSubstr("perdure prune --node"), Not(HasSubstr("'one'"))));
  EXPECT_FALSE(dead_.there("one"));
}

TEST_F(LeftRoom, IsLeftAloneWhileThereIsRoom) {
  dead_.leave("one", {1});
  dead_.store("one", 1);
  start_on_full_node([] { return false; });
  ASSERT_TRUE(grant(1));
  engine_->stop();  // waits for a look, if there is one
  EXPECT_TRUE(dead_.there("one"));
}

TEST_F(LeftRoom, IsMadeForALockToo) {
  dead_.leave("one", {1});
  dead_.store("one", 1);
  dead_.leave("two", {1});
  bool always = false;
  FullFileSystem hooks([&] { return always || dead_.there("one"); }, "pwrite", "/fingerprint");
  const test_support::InstalledHooks installed(hooks);
  const auto started = start("tier.order=file;job=mine");
  EXPECT_TRUE(started) << started.error().text();
  EXPECT_FALSE(dead_.there("one"));
  engine_.reset();
  always = true;
  const auto refused = start("tier.order=file;job=mine");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("job 'two' with store"));
}

TEST_F(LeftRoom, AnEnginesDirectorySaysWhoseItIs) {
  start_on_full_node([] { return false; });
  ASSERT_TRUE(grant(1));
  const auto directories = node::find_engine_directories(config_).value();
  ASSERT_EQ(directories.size(), 1u);
  const auto note = node::read_job_note(directories[0].path).value();
  EXPECT_EQ(note, (node::JobNote{"mine", directory_ / "store", "here"}));
}

}  // namespace
}  // namespace perdure::engine
