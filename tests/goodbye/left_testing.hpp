#pragma once
// Runs programs that end without closing, and inspects their stores afterwards.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "os/file.hpp"
#include "reader/inventory.hpp"
#include "store/store.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::test_support {

class Left {
 public:
  /// Runs a shell command line, with `DIRECTORY WAY` appended. Returns its status, or 128 + signal.
  int run(const std::string& program, const std::string& way) const {
    const std::string line = program + " " + directory_.path() + " " + way + " >" + (directory_ / "said") + " 2>&1";
    const int status = std::system(line.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  /// Starts the same in the background, until end().
  void start(const std::string& program, const std::string& way) {
    const std::string line =
        "exec env " + program + " " + directory_.path() + " " + way + " >" + (directory_ / "said") + " 2>&1";
    process_ = ::fork();
    if (process_ == 0) {
      ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      ::_exit(127);
    }
  }
  void signal(int number) const { ::kill(process_, number); }
  int end() {
    int status = -1;
    ::waitpid(std::exchange(process_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  ~Left() {
    if (process_ > 0) ::kill(process_, SIGKILL), (void)end();
  }
  Left() = default;
  Left(const Left&) = delete;
  Left& operator=(const Left&) = delete;
  std::string said() const {
    std::ostringstream text;
    text << std::ifstream(directory_ / "said").rdbuf();
    return text.str();
  }
  /// Returns the complete versions of `name` in the store, after the node has lost all its data.
  std::set<std::uint64_t> stored(const std::string& name = "run", const std::string& below = {}) const {
    const std::string place = directory_.path() + below;
    std::filesystem::remove_all(place + "/node");
    std::filesystem::remove_all(place + "/file");
    std::set<std::uint64_t> versions;
    auto store = store::make_store(place + "/store", {});
    if (!store) return versions;
    const auto facts = reader::inventory(**store, name);
    if (facts)
      for (const auto& one : *facts)
        if (one.complete()) versions.insert(one.listing.id.version);
    return versions;
  }
  bool nothing_on_the_node() const {
    const std::string node = directory_ / "node";
    return !std::filesystem::exists(node) || std::filesystem::is_empty(node);
  }
  /// Whether no engine holds the lock of this directory.
  bool no_engine_lives() const {
    std::error_code none;
    for (const auto& engine : std::filesystem::directory_iterator(directory_ / "node", none)) {
      const auto lock = os::File::open(engine.path().string() + "/engine.lock", os::Open::read_write);
      if (lock && !lock->try_lock()) return false;
    }
    return true;
  }
  std::string operator/(const std::string& name) const { return directory_ / name; }

 private:
  TemporaryDirectory directory_;
  pid_t process_ = -1;
};

inline const std::set<std::uint64_t> kAll{1, 2, 3};

}  // namespace perdure::test_support
