#pragma once
// Runs the real program `perdure run` with real children, for tests.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "cli/verb_testing.hpp"
#include "os/system.hpp"
#include "support/eventually.hpp"

namespace perdure::cli {

using test_support::eventually;

inline std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// `perdure run` in the background, in a directory of its own; output goes to files there.
class Launched {
 public:
  explicit Launched(std::vector<std::string> arguments, const std::string& input = "") {
    std::ofstream(directory_ / "in") << input;
    arguments.insert(arguments.begin(), {PERDURE_PROGRAM, "run", "--store", directory_ / "store", "--backoff", "0.05"});
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, (directory_ / "in").c_str(), O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, (directory_ / "out").c_str(), O_WRONLY | O_CREAT, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, (directory_ / "err").c_str(), O_WRONLY | O_CREAT, 0600);
    // A shell in the background lets its children ignore SIGINT, and perdure run respects that: here it has to hear it.
    sigset_t heard;
    ::sigemptyset(&heard);
    for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) ::sigaddset(&heard, signal);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &heard);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    EXPECT_EQ(::posix_spawn(&pid_, PERDURE_PROGRAM, &actions, &attributes, argv.data(), environ), 0);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
  }
  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  /// Waits until the program wrote a line.
  std::string first_line() const {
    EXPECT_TRUE(eventually("the program writes a line", [this] { return out().find('\n') != std::string::npos; }));
    const std::string text = out();
    return text.substr(0, text.find('\n'));
  }
  void signal(int number) const { ::kill(pid_, number); }
  std::string out() const { return text_of(directory_ / "out"); }
  std::string err() const { return text_of(directory_ / "err"); }
  std::string path(const std::string& name) const { return directory_ / name; }

 private:
  test_support::TemporaryDirectory directory_;
  pid_t pid_ = -1;
};

}  // namespace perdure::cli
