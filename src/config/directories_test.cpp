#include "config/directories.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

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
  EXPECT_EQ(memory_tier_root(config_), "/dev/shm" + own_);
  EXPECT_EQ(file_tier_root(config_), "/tmp" + own_);
}

TEST_F(Directories, TheFileTierFollowsTmpdir) {
  ::setenv("TMPDIR", "/scratch", 1);
  EXPECT_EQ(file_tier_root(config_), "/scratch" + own_);
  EXPECT_EQ(node_root(config_), "/dev/shm" + own_);
}

TEST_F(Directories, AreThoseThatWereSet) {
  ::setenv("TMPDIR", "/scratch", 1);
  set("tier.file.path", "/disk");
  set("node.path", "/node");
  EXPECT_EQ(file_tier_root(config_), "/disk");
  EXPECT_EQ(node_root(config_), "/node");
  EXPECT_EQ(memory_tier_root(config_), "/node") << "the memory tier goes with the node";
  set("tier.memory.path", "/memory");
  EXPECT_EQ(memory_tier_root(config_), "/memory");
  EXPECT_EQ(node_root(config_), "/node");
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
