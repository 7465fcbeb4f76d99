#include "engine/host/node_directory.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

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

/// Acts as a process that looks whether an engine lives, for as long as one call.
class LookedAt : public os::Hooks {
 public:
  int before(const os::Operation& operation) override {
    return operation.call == std::string_view("flock") && !std::exchange(looked_, true) ? EWOULDBLOCK : 0;
  }
  bool looked() const { return looked_; }

 private:
  bool looked_ = false;
};

TEST_F(NodeDirectory, ALockThatSomebodyHoldsForAMomentIsAskedForAgain) {
  LookedAt looking;
  test_support::InstalledHooks installed(looking);
  auto claimed = claim(configuration(), "host");
  ASSERT_TRUE(claimed && looking.looked());
  EXPECT_TRUE(std::get<Claim>(*claimed).paths.node.ends_with(".0")) << "a directory beside what a dead engine left";
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

/// A setting whose directory cannot be had, and the words that the error must contain.
struct WrongPlace {
  const char* name;
  std::string settings;  // %: the test's directory
  perdure_status code;
  std::vector<std::string> words;
};

class WrongPlaces : public NodeDirectory, public testing::WithParamInterface<WrongPlace> {
 protected:
  WrongPlaces() {
    if (const char* value = std::getenv("TMPDIR")) before_ = value;
    ::setenv("TMPDIR", (directory / "missing/tmp").c_str(), 1);
    std::filesystem::create_directory(directory / "open");
    std::filesystem::permissions(directory / "open", std::filesystem::perms::all);
    EXPECT_TRUE(os::write_file_atomically(directory / "file", {}));
  }
  ~WrongPlaces() override { before_ ? ::setenv("TMPDIR", before_->c_str(), 1) : ::unsetenv("TMPDIR"); }
  std::string here(std::string text) const {
    for (std::size_t at = 0; (at = text.find('%')) != std::string::npos;) text.replace(at, 1, directory.path());
    return text;
  }

 private:
  std::optional<std::string> before_;
};

INSTANTIATE_TEST_SUITE_P(
    Settings, WrongPlaces,
    testing::Values(
        WrongPlace{
            "Tmpdir",
            "node.path=%/node",
            PERDURE_NOT_FOUND,
            {"where TMPDIR leads to: %/missing/tmp: no such directory", "correct TMPDIR, or set tier.file.path"}},
        WrongPlace{"FileTier",
                   "node.path=%/node;tier.file.path=%/a/b",
                   PERDURE_NOT_FOUND,
                   {"%/a/b: where tier.file.path leads to: %/a: no such directory", "set tier.file.path to"}},
        WrongPlace{"MemoryTier",
                   "node.path=%/node;tier.memory.path=%/a/b;tier.order=memory",
                   PERDURE_NOT_FOUND,
                   {"%/a/b: where tier.memory.path leads to: %/a: no such directory", "set tier.memory.path to"}},
        WrongPlace{"Node",
                   "node.path=%/a/b;tier.order=memory",
                   PERDURE_NOT_FOUND,
                   {"%/a/b: where node.path leads to: %/a: no such directory", "set node.path to"}},
        WrongPlace{"Proc",
                   "node.path=/proc/xx;tier.order=memory",
                   PERDURE_NOT_FOUND,
                   {"/proc/xx: where node.path leads to: mkdir", "set node.path to"}},
        WrongPlace{"Open",
                   "node.path=%/open;tier.order=memory",
                   PERDURE_PERMISSION,
                   {"where node.path leads to: is open to other users", "chmod 700 it, or set node.path to"}},
        WrongPlace{"File",
                   "node.path=%/node;tier.file.path=%/file",
                   PERDURE_PERMISSION,
                   {"where tier.file.path leads to: is a link or a file", "remove it, or set tier.file.path to"}},
        WrongPlace{"Others",
                   "node.path=/proc/1;tier.order=memory",
                   PERDURE_PERMISSION,
                   {"where node.path leads to: ", "set node.path to"}}),
    [](const auto& tested) { return tested.param.name; });

// The error must not suggest that another engine is in the way, and must not come after a thousand attempts.
TEST_P(WrongPlaces, AreNamedWithTheirSetting) {
  config::Config config;
  ASSERT_TRUE(
      config.set_all("store.path=" + (directory / "store") + ";" + here(GetParam().settings), config::Origin::program));
  const auto refused = claim(config, "host");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, GetParam().code) << refused.error().text();
  for (const std::string& words : GetParam().words)
    EXPECT_NE(refused.error().text().find(here(words)), std::string::npos) << refused.error().text();
  EXPECT_FALSE(refused.error().retryable);
}

TEST_F(NodeDirectory, OfATierThatIsNotUsedNeedsNoPlace) {
  EXPECT_TRUE(claim(configuration("tier.order=memory;tier.file.path=" + directory / "missing/file"), "host"));
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
