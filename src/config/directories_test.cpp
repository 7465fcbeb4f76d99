#include "config/directories.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "os/file.hpp"
#include "os/system.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::config {
namespace {

class Directories : public testing::Test {
 protected:
  Directories() {
    if (const char* before = std::getenv("TMPDIR")) before_ = before;
    ::unsetenv("TMPDIR");
  }
  ~Directories() override {
    if (before_.empty())
      ::unsetenv("TMPDIR");
    else
      ::setenv("TMPDIR", before_.c_str(), 1);
  }
  void set(const char* key, const char* value) { ASSERT_TRUE(config_.set(key, value, Origin::program)); }

  Config config_;
  const std::string own_ = "/perdure-" + std::to_string(os::user_id());

 private:
  std::string before_;
};

TEST_F(Directories, AreTheUsersOwnByDefault) {
  EXPECT_EQ(node_root(config_), "/dev/shm" + own_);
  EXPECT_EQ(tier_root(config_, "memory"), "/dev/shm" + own_);
  EXPECT_EQ(tier_root(config_, "file"), "/tmp" + own_);
}

TEST_F(Directories, TheFileTierFollowsTmpdir) {
  ::setenv("TMPDIR", "/scratch", 1);
  EXPECT_EQ(tier_root(config_, "file"), "/scratch" + own_);
  EXPECT_EQ(node_root(config_), "/dev/shm" + own_);
}

TEST_F(Directories, AnEmptyTmpdirIsNoneAndARelativeOneIsInTheWorkingDirectory) {
  ::setenv("TMPDIR", "", 1);
  EXPECT_EQ(tier_root(config_, "file"), "/tmp" + own_);
  EXPECT_EQ(root_setting(config_, "file"), "tier.file.path");
  ::setenv("TMPDIR", "scratch/", 1);  // perdured has another working directory
  EXPECT_EQ(tier_root(config_, "file"), os::absolute_path("scratch").value() + own_);
}

TEST_F(Directories, SayWhichSettingTheyFollowFrom) {
  EXPECT_EQ(root_setting(config_), "node.path");
  EXPECT_EQ(root_setting(config_, "memory"), "node.path");
  EXPECT_EQ(root_setting(config_, "file"), "tier.file.path");
  ::setenv("TMPDIR", "/scratch", 1);
  EXPECT_EQ(root_setting(config_, "file"), "TMPDIR");
  EXPECT_EQ(root_setting(config_, "memory"), "node.path");
  set("tier.file.path", "/disk");
  set("tier.memory.path", "/memory");
  EXPECT_EQ(root_setting(config_, "file"), "tier.file.path");
  EXPECT_EQ(root_setting(config_, "memory"), "tier.memory.path");
}

TEST_F(Directories, AreThoseThatWereSet) {
  ::setenv("TMPDIR", "/scratch", 1);
  set("tier.file.path", "/disk");
  set("node.path", "/node");
  EXPECT_EQ(tier_root(config_, "file"), "/disk");
  EXPECT_EQ(node_root(config_), "/node");
  EXPECT_EQ(tier_root(config_, "memory"), "/node") << "the memory tier goes with the node";
  set("tier.memory.path", "/memory");
  EXPECT_EQ(tier_root(config_, "memory"), "/memory");
  EXPECT_EQ(node_root(config_), "/node");
}

TEST_F(Directories, OfTheTiersAreAllDifferent) {
  std::set<std::string> all;
  for (const std::string& tier : known_tiers()) EXPECT_TRUE(all.insert(tier_directory(config_, tier, "0")).second);
  EXPECT_TRUE(all.insert(tier_directory(config_, "nvme", "0")).second) << "one that has no path shares a root, only";
  EXPECT_EQ(tier_directory(config_, "memory", "0"), node_root(config_) + "/0");
  EXPECT_EQ(tier_directory(config_, "file", "0"), tier_root(config_, "file") + "/0.slots");
  for (const std::string& tier : known_tiers())
    EXPECT_EQ(tier_directory(config_, tier, "0"), tier_root(config_, tier) + "/0" + tier_suffix(tier));
}

TEST_F(Directories, TheRootsOfANodeAreNamedOnce) {
  EXPECT_EQ(node_roots(config_), (std::vector<std::string>{"/dev/shm" + own_, "/tmp" + own_}));
  for (const std::string& tier : known_tiers()) set(("tier." + tier + ".path").c_str(), ("/dev/shm" + own_).c_str());
  EXPECT_EQ(node_roots(config_).size(), 1u);
}

TEST_F(Directories, EveryTierHasAPathAndALimit) {
  ASSERT_GE(known_tiers().size(), 2u);
  set("tier.file.max_bytes", "3MiB");
  EXPECT_EQ(tier_max_bytes(config_, "file"), 3U << 20U);
  EXPECT_EQ(tier_max_bytes(config_, "memory"), 0U);
  for (const std::string& tier : known_tiers()) {
    const Option *path = find_option("tier." + tier + ".path"), *limit = find_option("tier." + tier + ".max_bytes");
    ASSERT_TRUE(path != nullptr && limit != nullptr) << tier;
    EXPECT_TRUE(path->type == Type::text && path->absolute && path->engine) << tier;
    EXPECT_TRUE(limit->type == Type::bytes && limit->engine) << tier;
  }
}

TEST_F(Directories, OfModelsIsBesideTheConfigurationFile) {
  const test_support::TemporaryDirectory directory;
  EXPECT_EQ(model_root(config_, {{"PERDURE_CONFIG", "/etc/p.toml"}}, "/x").value(), "/etc/perdure-models");
  EXPECT_EQ(model_root(config_, {{"PERDURE_CONFIG", "/p.toml"}}, "/x").value(), "/perdure-models");
  EXPECT_EQ(model_root(config_, {{"PERDURE_CONFIG", "sub/p.toml"}}, "/x").value(), "/x/sub/perdure-models");
  ASSERT_TRUE(os::write_file_atomically(directory / "perdure.toml", {}));
  EXPECT_EQ(model_root(config_, {{"HOME", "/home/me"}}, directory.path()).value(), directory / "perdure-models");
  set("placement.models", "/models");
  EXPECT_EQ(model_root(config_, {{"PERDURE_CONFIG", "/etc/p.toml"}}, "/x").value(), "/models");
}

TEST_F(Directories, OfModelsIsTheUsersWhereThereIsNoConfigurationFile) {
  const test_support::TemporaryDirectory empty;
  EXPECT_EQ(model_root(config_, {{"HOME", "/home/me"}}, empty.path()).value(),
            "/home/me/.config/perdure/perdure-models");
  EXPECT_EQ(model_root(config_, {{"HOME", "/home/me"}, {"XDG_CONFIG_HOME", "/c"}}, empty.path()).value(),
            "/c/perdure/perdure-models");
  const auto nowhere = model_root(config_, {}, empty.path());
  ASSERT_FALSE(nowhere);
  EXPECT_NE(nowhere.error().remedy.find("placement.models"), std::string::npos);
}

}  // namespace
}  // namespace perdure::config
