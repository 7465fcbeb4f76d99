#pragma once
// For tests only: a directory of one's own that is gone afterwards, and hooks that go with their scope.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "os/hooks.hpp"

namespace perdure::os {

class TestDirectory {
 public:
  explicit TestDirectory(const std::string& parent = "/tmp") : path_(parent + "/perdure-test-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "no temporary directory in " << parent;
  }
  ~TestDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

class InstalledHooks {
 public:
  explicit InstalledHooks(Hooks& hooks) { install_hooks(&hooks); }
  ~InstalledHooks() { install_hooks(nullptr); }
  InstalledHooks(const InstalledHooks&) = delete;
  InstalledHooks& operator=(const InstalledHooks&) = delete;
};

}  // namespace perdure::os
