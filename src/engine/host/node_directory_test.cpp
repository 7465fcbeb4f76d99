#include "engine/host/node_directory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

#include "os/hooks.hpp"
#include "support/installed_hooks.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::engine {
namespace {

class NodeDirectory : public ::testing::Test {
 protected:
  config::Config configuration(const std::string& more = {}) {
    config::Config config;
    const std::string settings = "store.path=" + directory / "store" + ";node.path=" + directory / "node" +
                                 ";tier.file.path=" + directory / "file";
    EXPECT_TRUE(config.set_all(settings + (more.empty() ? "" : ";" + more), config::Origin::program));
    return config;
  }
  test_support::TemporaryDirectory directory;
};

TEST_F(NodeDirectory, AnotherStoreJobOrNodeHasAnotherKey) {
  const auto config = configuration();
  const std::string key = node_key(config, "host");
  EXPECT_EQ(key.size(), 16u);
  EXPECT_EQ(node_key(configuration("retention.keep_last=9"), "host"), key);
  EXPECT_NE(node_key(config, "host#1"), key);
  EXPECT_NE(node_key(configuration("job=b"), "host"), key);
  EXPECT_NE(node_key(configuration("store.path=/elsewhere"), "host"), key);
}

TEST_F(NodeDirectory, ALiveEngineWithTheSameConfigurationIsNamedInsteadOfASecondClaim) {
  const auto config = configuration();
  auto first = claim(config, "host");
  ASSERT_TRUE(first && std::holds_alternative<Claim>(*first));
  auto second = claim(config, "host");
  ASSERT_TRUE(second && std::holds_alternative<Existing>(*second));
  EXPECT_EQ(std::get<Existing>(*second).paths.socket(), std::get<Claim>(*first).paths.socket());
}

TEST_F(NodeDirectory, AnotherConfigurationGetsAnInstanceOfItsOwn) {
  auto first = claim(configuration(), "host");
  auto second = claim(configuration("retention.keep_last=9"), "host");
  ASSERT_TRUE(first && second && std::holds_alternative<Claim>(*second));
  EXPECT_NE(std::get<Claim>(*second).paths.node, std::get<Claim>(*first).paths.node);
}

TEST_F(NodeDirectory, ADeadEnginesDirectoryIsTakenOverWithWhatItHolds) {
  std::string node;
  {
    auto dead = claim(configuration(), "host");
    ASSERT_TRUE(dead);
    node = std::get<Claim>(*dead).paths.node;
    ASSERT_TRUE(os::write_file_atomically(node + "/catalog", base::as_bytes(std::string("kept"))));
  }
  auto next = claim(configuration(), "host");
  ASSERT_TRUE(next && std::holds_alternative<Claim>(*next));
  EXPECT_EQ(std::get<Claim>(*next).paths.node, node);
  EXPECT_TRUE(std::filesystem::exists(node + "/catalog"));
}

/// Calls `act` after the first operation of that name on a path with that ending.
class OnceAfter : public os::Hooks {
 public:
  OnceAfter(std::string call, std::string ending, std::function<void()> act)
      : call_(std::move(call)), ending_(std::move(ending)), act_(std::move(act)) {}
  void after(const os::Operation& operation, int) override {
    if (operation.call == call_ && operation.path.ends_with(ending_))
      if (auto act = std::exchange(act_, nullptr)) act();
  }
  bool acted() const { return !act_; }

 private:
  std::string call_, ending_;
  std::function<void()> act_;
};

TEST_F(NodeDirectory, WhatADeadOwnerServedIsForgottenBeforeItsSuccessorsOwnIsWritten) {
  { ASSERT_TRUE(claim(configuration("retention.keep_last=9"), "host")); }
  bool stale_seen = false;
  OnceAfter writing("fsync", "", [&] {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory / "node"))
      stale_seen = stale_seen || entry.path().filename() == "fingerprint";
  });
  test_support::InstalledHooks installed(writing);
  ASSERT_TRUE(claim(configuration(), "host"));
  EXPECT_TRUE(writing.acted());
  EXPECT_FALSE(stale_seen);
}

TEST_F(NodeDirectory, AFingerprintSeenBeforeTheNewOwnerReplacedItIsLookedAtAgain) {
  auto owner = claim(configuration(), "host");
  ASSERT_TRUE(owner);
  const std::string path = std::get<Claim>(*owner).paths.node + "/fingerprint";
  const std::string old = configuration("retention.keep_last=9").fingerprint(), own = configuration().fingerprint();
  ASSERT_TRUE(os::write_file_atomically(path, base::as_bytes(old)));
  OnceAfter reading("pread", "/fingerprint",
                    [&] { ASSERT_TRUE(os::write_file_atomically(path, base::as_bytes(own))); });
  test_support::InstalledHooks installed(reading);
  auto found = claim(configuration(), "host");
  ASSERT_TRUE(found && reading.acted());
  EXPECT_TRUE(std::holds_alternative<Existing>(*found)) << "a second engine for the same job and configuration";
}

TEST_F(NodeDirectory, ADirectoryThatItsFormerOwnerRemovesMeanwhileIsMadeAgain) {
  const std::string parent = directory / "node";
  std::filesystem::create_directory(parent);
  std::filesystem::permissions(parent, std::filesystem::perms::owner_all);
  OnceAfter making("mkdir", ".0", [&] {
    for (const auto& entry : std::filesystem::directory_iterator(parent)) std::filesystem::remove(entry.path());
  });
  test_support::InstalledHooks installed(making);
  auto claimed = claim(configuration(), "host");
  ASSERT_TRUE(claimed) << claimed.error().text();
  EXPECT_TRUE(making.acted());
  EXPECT_TRUE(std::filesystem::exists(std::get<Claim>(*claimed).paths.node + "/engine.lock"));
}

TEST_F(NodeDirectory, WhatASuccessorMadeSurvivesTheEndOfItsPredecessor) {
  auto first = claim(configuration(), "host");
  ASSERT_TRUE(first);
  const auto paths = std::get<Claim>(*first).paths;
  std::filesystem::create_directories(paths.tiers.at("file"));
  std::optional<std::variant<Claim, Existing>> second;
  OnceAfter ending("unlink", "/engine.lock", [&] {
    second = claim(configuration(), "host").value();
    std::filesystem::create_directories(paths.tiers.at("file"));
  });
  {
    test_support::InstalledHooks installed(ending);
    remove_directories(std::get<Claim>(*first));
  }
  ASSERT_TRUE(second && std::holds_alternative<Claim>(*second));
  EXPECT_TRUE(std::filesystem::exists(paths.tiers.at("file")));
  EXPECT_TRUE(std::filesystem::exists(paths.node + "/engine.lock"));
}

TEST_F(NodeDirectory, RefusesADirectoryThatOthersCanEnter) {
  std::filesystem::create_directory(directory / "node");
  std::filesystem::permissions(directory / "node", std::filesystem::perms::all);
  auto refused = claim(configuration(), "host");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_PERMISSION);
}

TEST_F(NodeDirectory, AnEmptyClaimLeavesNothingBehind) {
  auto claimed = claim(configuration(), "host");
  ASSERT_TRUE(claimed);
  const auto paths = std::get<Claim>(*claimed).paths;
  remove_directories(std::get<Claim>(*claimed));
  EXPECT_FALSE(std::filesystem::exists(paths.node));
  for (const auto& [tier, path] : paths.tiers) EXPECT_FALSE(std::filesystem::exists(path)) << path;
}

}  // namespace
}  // namespace perdure::engine
