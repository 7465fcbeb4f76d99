#include "launch/probes.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "os/system.hpp"

namespace perdure::launch {
namespace {

constexpr std::uint64_t kLookEveryNs = 20'000'000;
constexpr int kPatience = 100;  // looks after SIGTERM, so that a launcher can end its remote processes

pid_t start_silently(const std::vector<std::string>& command, const sigset_t& mask) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  for (const int output : {STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &mask);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  pid_t pid = -1;
  if (::posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environ) != 0) pid = -1;
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return pid;
}

}  // namespace

Probes::Probes(const std::vector<std::vector<std::string>>& commands, const sigset_t& mask) {
  for (const auto& command : commands) all_.push_back({start_silently(command, mask), false});
}

Probes::~Probes() { end(); }

bool Probes::ended() {
  for (Running& one : all_) {
    int status = 0;
    if (one.pid < 0 || ::waitpid(one.pid, &status, WNOHANG) != one.pid) continue;
    one = {-1, WIFEXITED(status) && WEXITSTATUS(status) == 0};
  }
  return std::all_of(all_.begin(), all_.end(), [](const Running& one) { return one.pid < 0; });
}

bool Probes::wait_for_end(int rounds) {
  while (!ended()) {
    if (rounds-- == 0) return false;
    os::sleep_ns(kLookEveryNs);
  }
  return true;
}

void Probes::signal_all(int number) const {
  for (const Running& one : all_)
    if (one.pid > 0) ::kill(-one.pid, number);
}

std::vector<bool> Probes::finish() {
  (void)ended();
  std::vector<bool> good;
  for (const Running& one : all_) good.push_back(one.good);
  end();
  return good;
}

void Probes::end() {
  if (ended()) return;
  signal_all(SIGTERM);
  if (wait_for_end(kPatience)) return;
  signal_all(SIGKILL);
  wait_for_end(-1);
}

}  // namespace perdure::launch
