#include "config/directories.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "os/system.hpp"

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

}  // namespace
}  // namespace perdure::config
