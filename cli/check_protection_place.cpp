#include "cli/check_protection_place.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>

#include "config/directories.hpp"
#include "config/effective.hpp"
#include "os/file.hpp"
#include "os/system.hpp"

namespace perdure::cli {
namespace {

constexpr const char* kKeepAll = "1000000000";  // versions
constexpr const char* kIdleExit_s = "1";

/// Ends the engines (perdured) that were started for these directories and are still at work: what they write has no
/// place any more. The names are random, so a command line that has one is that of such an engine.
void end_engines(const std::vector<std::string>& directories) {
  const auto processes = os::list_directory("/proc");
  if (!processes) return;
  for (const os::Entry& entry : *processes) {
    if (entry.name.find_first_not_of("0123456789") != std::string::npos) continue;
    // Not os::read_file: these files have no size.
    std::ifstream file("/proc/" + entry.name + "/cmdline", std::ios::binary);
    const std::string command{std::istreambuf_iterator<char>(file), {}};
    const std::string program = command.substr(0, command.find('\0'));
    if (program.substr(program.rfind('/') + 1) != "perdured") continue;
    for (const std::string& directory : directories)
      if (command.find(directory + "/") != std::string::npos) ::kill(std::stoi(entry.name), SIGKILL);
  }
}

/// The child: waits for the end of the other end of the pipe. A program that is being killed with us may go on writing
/// for a while, so it looks again until nothing has come back.
[[noreturn]] void wait_and_remove(int lifeline, const std::vector<std::string>& directories) {
  constexpr int kLooks = 60, kQuietLooks = 3;
  ::setsid();
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_IGN);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int stream = 0; stream <= 2; ++stream) ::dup2(nothing, stream);
  ::dup2(lifeline, 3);
  ::close_range(4, ~0U, 0);  // nobody shall wait for us because of a descriptor
  char byte = 0;
  while (::read(3, &byte, 1) < 0 && errno == EINTR) {
  }
  for (int look = 0, quiet = 0; look < kLooks && quiet < kQuietLooks; ++look) {
    bool there = false;
    end_engines(directories);
    for (const std::string& directory : directories) {
      there |= os::exists(directory).value_or(true);
      (void)os::remove_tree(directory);
    }
    quiet = there ? 0 : quiet + 1;
    os::sleep_ns(1'000'000'000);
  }
  ::_exit(0);
}

std::string parent_of(const std::string& path) { return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1)); }

/// Makes `path`, for this user alone; notes the parents that were missing.
base::Status make_place(const std::string& path, std::vector<std::string>& made_parents) {
  const std::string parent = parent_of(path);
  std::vector<std::string> missing;
  for (std::string at = parent; at.size() > 1 && !os::exists(at).value_or(true); at = parent_of(at))
    missing.push_back(at);
  PERDURE_CHECK(os::make_directories(parent));
  made_parents.insert(made_parents.end(), missing.begin(), missing.end());
  return os::make_private_directory(path);
}

}  // namespace

base::Result<std::unique_ptr<Remover>> Remover::start(std::vector<std::string> directories) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::fail(base::errno_error(errno, "pipe2", "check of protection"));
  const pid_t child = ::fork();
  if (child < 0) {
    const int error = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    return base::fail(base::errno_error(error, "fork", "check of protection"));
  }
  if (child == 0) {
    ::close(ends[1]);
    wait_and_remove(ends[0], directories);
  }
  ::close(ends[0]);
  return std::unique_ptr<Remover>(new Remover(ends[1], child));
}

Remover::~Remover() {
  ::kill(child_, SIGKILL);
  ::close(lifeline_);
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

base::Result<std::unique_ptr<CheckPlace>> CheckPlace::make(config::Config config) {
  PERDURE_CHECK(config::make_paths_absolute(config));
  if (config.text("store.path").find("://") != std::string::npos)
    return base::fail(PERDURE_UNSUPPORTED, config.text("store.path"),
                      "a check of protection needs a store that is a directory",
                      "name a directory with --store; the check keeps its own beside it");
  const std::string suffix = fmt::format("-check-{:08x}", static_cast<std::uint32_t>(os::random_u64()));
  std::unique_ptr<CheckPlace> place(new CheckPlace);
  place->job_ = "check" + suffix.substr(6);
  place->store_ = config.text("store.path") + suffix;
  place->node_ = config::node_root(config) + suffix;
  PERDURE_TRY(const std::string file, os::absolute_path(config::file_tier_root(config)));
  place->file_ = file + suffix;
  if (!config.text("tier.memory.path").empty()) place->memory_ = config.text("tier.memory.path") + suffix;
  place->config_ = std::move(config);
  std::vector<std::string> all{place->store_, place->node_, place->file_};
  if (!place->memory_.empty()) all.push_back(place->memory_);
  PERDURE_TRY(place->remover_, Remover::start(all));
  for (const std::string& path : all) PERDURE_CHECK(make_place(path, place->made_parents_));
  return place;
}

CheckPlace::~CheckPlace() { (void)remove(); }

base::Status CheckPlace::remove() {
  base::Status outcome;
  end_engines({node_});
  for (const std::string& path : {store_, node_, file_, memory_})
    if (!path.empty() && os::exists(path).value_or(true))
      if (auto removed = os::remove_tree(path); !removed && outcome) outcome = removed;
  for (const std::string& path : made_parents_) (void)::rmdir(path.c_str());  // when nobody else uses it meanwhile
  return outcome;
}

std::string CheckPlace::record_of(unsigned number) const { return fmt::format("{}/restored-by-{}", store_, number); }

base::Result<config::Config> CheckPlace::for_run(unsigned number) const {
  const std::string directory = fmt::format("/{}", number);
  config::Config config = config_;
  std::vector<std::pair<const char*, std::string>> settings = {
      {"store.path", store_ + directory},    {"node.path", node_ + directory},
      {"tier.file.path", file_ + directory}, {"job", fmt::format("{}-{}", job_, number)},
      {"retention.keep_last", kKeepAll},     {"engine.spawn", "true"},
      {"engine.idle_exit", kIdleExit_s},     {"restore.record", record_of(number)}};
  if (!memory_.empty()) settings.emplace_back("tier.memory.path", memory_ + directory);
  for (const auto& [key, value] : settings)
    PERDURE_CHECK(config.set(key, value, config::Origin::command_line, "--check-protection"));
  return config;
}

Environment environment_of(const config::Config& config) {
  Environment environment;
  for (const auto& [key, value] : config.values())
    if (value.origin == config::Origin::command_line)
      environment.emplace_back(config::find_option(key)->environment, value.text);
  return environment;
}

}  // namespace perdure::cli
