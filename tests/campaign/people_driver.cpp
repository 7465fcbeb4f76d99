// Runs starts as processes, alone or under `perdure run`, and ends them at the given moment.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "campaign/people_model.hpp"
#include "damage.hpp"

namespace perdure::campaign {
namespace {

using Clock = std::chrono::steady_clock;
using test_support::kill_engines;

constexpr std::chrono::seconds kStartLimit{50};

std::string text_in(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class RealPeople : public PeopleDriver {
 public:
  explicit RealPeople(std::string directory) : directory_(std::move(directory)) {}
  ~RealPeople() override { kill_engines(directory_); }
  Heard start(const People& people, std::size_t number) override;
  void after(const People& people, std::size_t number) override;

 private:
  using Settings = std::vector<std::pair<std::string, std::string>>;
  Settings settings(const People& people, const Start& start) const;
  std::vector<std::string> command(const People& people, std::size_t number, const std::string& branch) const;
  [[noreturn]] void become(const std::vector<std::string>& words, const Start& start) const;
  void wait_for(int pid, const Start& start, Heard& heard) const;
  void hear(Heard& heard) const;

  std::string directory_;
  std::map<std::string, std::string> left_;  // for each name: the branch left last
};

RealPeople::Settings RealPeople::settings(const People& people, const Start& start) const {
  const std::string room = start.room_kib > 0 ? std::to_string(start.room_kib) + "KiB" : "32MiB";
  return {{"store.path", directory_ + "/store"},
          {"node.path", directory_ + "/node"},
          {"tier.file.path", directory_ + "/file"},
          {"tier.memory.max_bytes", room},
          {"tier.file.max_bytes", room},
          {"chunk_bytes", "64KiB"},
          {"job", start.job},
          {"case", start.study},
          {"new_start", start.refuse ? "refuse" : "keep"},
          {"signals", start.asks ? "checkpoint" : "none"},
          {"messages", "stderr"},
          {"engine.mode", start.mode},
          {"engine.idle_exit", "1"},
          {"checkpoint.lease", "2"},
          {"checkpoint.timeout", "10"},
          {"engine.drain_timeout", start.descriptors > 0 || start.room_kib > 0 ? "3" : "40"},
          {"flush.retry_initial", "0.02"},
          {"flush.retry_max", "0.2"},
          {"retention.keep_last", std::to_string(people.keep_last)}};
}

std::vector<std::string> RealPeople::command(const People& people, std::size_t number,
                                             const std::string& branch) const {
  const Start& start = people.starts[number];
  const auto all = settings(people, start);
  std::vector<std::string> words;
  if (start.supervised) {
    words = {
        PERDURE_PROGRAM, "run", "--restarts", "0", "--set", "run.grace=" + std::to_string(start.grace_ms / 1000.0)};
    for (const auto& [key, value] : all) words.insert(words.end(), {"--set", key + "=" + value});
    words.emplace_back("--");
  }
  std::string options;
  for (const auto& [key, value] : all) options += (options.empty() ? "" : ";") + key + "=" + value;
  const bool is_number = start.from.find_first_not_of("0123456789") == std::string::npos;
  const std::string from = !branch.empty() ? "branch:" + branch : is_number ? "number:" + start.from : start.from;
  words.insert(words.end(), {PERDURE_DRAWN_PROGRAM, "options=" + options, "name=" + start.name, "from=" + from,
                             "memory=" + start.memory, "end=" + start.end, "stamp=" + std::to_string(stamp_of(number)),
                             "writes=" + std::to_string(start.writes)});
  for (const CodeRegion& region : start.code.regions)
    words.push_back("region=" + std::to_string(region.id) + ":" + region.name + ":" + std::to_string(region.count) +
                    ":" + region.type + ":" + (region.optional ? "o" : "") + (region.followed ? "f" : ""));
  for (const auto& [before, now] : start.code.renamed) words.push_back("declare=" + before + ">" + now);
  for (const auto& one : start.code.passed_over) words.push_back("declare=" + one);
  if (start.stubborn) words.emplace_back("stubborn");
  if (start.computes) words.emplace_back("computes");
  if (start.asks) words.emplace_back("asks");
  return words;
}

void RealPeople::become(const std::vector<std::string>& words, const Start& start) const {
  ::setpgid(0, 0);
  // The program starts without handlers for signals.
  for (const int end : {SIGINT, SIGTERM, SIGHUP}) ::signal(end, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int out = ::open((directory_ + "/out").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const int said = ::open((directory_ + "/said").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (out < 0 || said < 0 || ::dup2(out, 1) < 0 || ::dup2(said, 2) < 0) ::_exit(127);
  ::setenv("PERDURE_ENGINE_DAEMON_PATH", PERDURED_PATH, 1);
  ::unsetenv("PERDURE_LAUNCH");
  const auto most = static_cast<rlim_t>(start.descriptors);
  const rlimit few{most, most};
  if (start.descriptors > 0 && ::setrlimit(RLIMIT_NOFILE, &few) != 0) ::_exit(127);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

void RealPeople::wait_for(int pid, const Start& start, Heard& heard) const {
  const auto begin = Clock::now();
  bool stopped = start.stop.empty();
  int status = 0;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    const auto since = Clock::now() - begin;
    if (!stopped && since >= std::chrono::milliseconds(start.after_ms)) {
      stopped = true;
      // SIGKILL hits the supervisor and the program at once.
      ::kill(start.stop == "kill" ? -pid : pid, start.stop == "kill" ? SIGKILL : SIGTERM);
    }
    if (since >= kStartLimit && !heard.hung) {
      heard.hung = true;
      ::kill(-pid, SIGKILL);
    }
    ::usleep(500);  // wait: the start has a limit of its own
  }
  if (start.stop == "kill" || heard.hung) ::kill(-pid, SIGKILL);
  heard.ended = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// A line of output: CALL STATUS VERSION TEXT, separated by tabs.
struct Line {
  std::string what;
  Call call;
};

Line line_from(const std::string& text) {
  std::istringstream fields(text);
  Line line;
  std::string status, version;
  std::getline(fields, line.what, '\t');
  std::getline(fields, status, '\t');
  std::getline(fields, version, '\t');
  std::getline(fields, line.call.text);
  line.call.done = true;
  line.call.status = std::atoi(status.c_str());
  line.call.version = std::atoll(version.c_str());
  return line;
}

// A call that began and has no outcome ended the program.
void RealPeople::hear(Heard& heard) const {
  std::istringstream lines(text_in(directory_ + "/out"));
  for (std::string text; std::getline(lines, text);) {
    if (lines.eof()) break;  // the line was not finished
    const auto [what, call] = line_from(text);
    if (what == "open") heard.open = call;
    if (what == "protect") heard.protects.push_back(call.text);
    if (what == "passed") heard.passed_over = std::atoi(call.text.c_str());
    if (what == "region") heard.regions.push_back({std::atoi(call.text.c_str()), call.status == 1, call.version});
    if (what == "restore") heard.restore = call;
    if (what == "begin") heard.checkpoints.push_back({false, 0, call.version, ""});
    if (what == "checkpoint" && !heard.checkpoints.empty()) heard.checkpoints.back() = call;
    if (what == "close") heard.close = call;
  }
  heard.said = text_in(directory_ + "/said");
}

Heard RealPeople::start(const People& people, std::size_t number) {
  const Start& start = people.starts[number];
  Heard heard;
  if (start.from == "left" && left_.contains(start.name)) heard.branch = left_[start.name];
  auto words = command(people, number, heard.branch);
  for (std::string& word : words)
    if (word == "from=left") word = "from=latest";
  std::error_code ignored;
  for (const char* file : {"/out", "/said"}) std::filesystem::remove(directory_ + file, ignored);
  sigset_t all, before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) become(words, start);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::setpgid(pid, pid);
  wait_for(pid, start, heard);
  hear(heard);
  if (const auto kept = kept_branch(heard.said)) left_[start.name] = kept->branch;
  return heard;
}

void RealPeople::after(const People& people, std::size_t number) {
  if (!people.starts[number].machine_lost) return;
  kill_engines(directory_);
  std::error_code ignored;
  for (const char* place : {"/node", "/file"}) std::filesystem::remove_all(directory_ + place, ignored);
}

}  // namespace

std::unique_ptr<PeopleDriver> real_people(const std::string& directory) {
  return std::make_unique<RealPeople>(directory);
}

}  // namespace perdure::campaign
