#pragma once
// Runs the real program `perdure`, and programs that it captures and brings back, for tests of the verbs about
// processes.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "cli/verb_testing.hpp"
#include "os/system.hpp"
#include "process/captured_testing.hpp"
#include "support/eventually.hpp"

namespace perdure::cli {

using test_support::eventually;

inline std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}
inline void touch(const std::string& path) { std::ofstream(path, std::ios::app); }
inline void wait_for_file(const std::string& path) {
  EXPECT_TRUE(eventually("there is " + path, [&] { return std::filesystem::exists(path); }));
}

/// Processes that lose their parent come to the test, which sees each of them end.
class Orphans {
 public:
  Orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }
  ~Orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 0); }
  Orphans(const Orphans&) = delete;
  Orphans& operator=(const Orphans&) = delete;
  static std::set<pid_t> all() {
    std::set<pid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const pid_t process = std::atoi(entry.path().filename().c_str());
      if (process <= 0) continue;
      const std::string stat = content_of(entry.path() / "stat");
      const auto behind_name = stat.rfind(") ");
      if (behind_name != std::string::npos && std::atoi(stat.c_str() + behind_name + 4) == ::getpid())
        found.insert(process);
    }
    return found;
  }
  /// Waits until all but `known` have ended; returns how many of them were killed.
  static int wait_for_others(const std::set<pid_t>& known) {
    int killed = 0;
    for (const pid_t process : all())
      if (int how = 0; !known.contains(process) && ::waitpid(process, &how, 0) == process)
        killed += WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL ? 1 : 0;
    return killed;
  }
};

/// A store, a node and a directory for programs.
struct ProcessPlace {
  test_support::TemporaryDirectory directory;
  std::string store = directory / "store", node = directory / "node", files = directory / "files";
  ProcessPlace() { std::filesystem::create_directory(files); }
  std::string file(const std::string& name) const { return files + "/" + name; }
};

/// Runs `perdure` in the background.
class Perdure {
 public:
  Perdure(const ProcessPlace& place, std::vector<std::string> arguments, std::vector<std::string> variables = {},
          uid_t user = 0)
      : out_(place.directory / ("out" + std::to_string(number()))), err_(out_ + ".err") {
    arguments.insert(arguments.begin(), PERDURE_PROGRAM);
    for (char** one = environ; *one != nullptr; ++one)
      if (!std::string_view(*one).starts_with("PERDURE_")) variables.emplace_back(*one);
    variables.push_back("PERDURE_STORE_PATH=" + place.store);
    variables.push_back("PERDURE_NODE_PATH=" + place.node);
    variables.push_back("PERDURE_TIER_FILE_PATH=" + place.node + "-files");
    const auto words = pointers(arguments), settings = pointers(variables);
    process_ = ::fork();
    if (process_ != 0) return;
    ::dup2(::open("/dev/null", O_RDONLY), 0);
    ::dup2(::open(out_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600), 1);
    ::dup2(::open(err_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600), 2);
    ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    if (user != 0 && (::setgid(user) != 0 || ::setuid(user) != 0)) ::_exit(126);
    ::execve(words[0], words.data(), settings.data());
    ::_exit(127);
  }
  Perdure(const Perdure&) = delete;
  Perdure& operator=(const Perdure&) = delete;
  ~Perdure() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  pid_t process() const { return process_; }
  std::string err() const { return content_of(err_); }
  bool has_ended() const {
    siginfo_t how{};
    return ::waitid(P_PID, static_cast<id_t>(process_), &how, WEXITED | WNOHANG | WNOWAIT) != 0 || how.si_pid != 0;
  }
  /// Tells whether it has printed that; waits until it does, or has ended.
  bool says(const std::string& text) const {
    EXPECT_TRUE(eventually("perdure says: " + text, [&] { return says_now(text) || has_ended(); })) << err();
    return says_now(text);
  }
  bool says_now(const std::string& text) const { return err().find(text) != std::string::npos; }
  /// Gives its status; below 0: the signal that ended it.
  Ran wait() {
    int status = 0;
    EXPECT_EQ(::waitpid(process_, &status, 0), process_);
    process_ = 0;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), content_of(out_), content_of(err_)};
  }

 private:
  static int number() {
    static int count = 0;
    return ++count;
  }
  static std::vector<char*> pointers(const std::vector<std::string>& words) {
    std::vector<char*> all;
    for (const auto& word : words) all.push_back(const_cast<char*>(word.c_str()));
    all.push_back(nullptr);
    return all;
  }
  std::string out_, err_;
  pid_t process_ = 0;
};

/// The program `patient`, at work in a place.
class Patient {
 public:
  static constexpr int kStatus = 7;
  explicit Patient(const ProcessPlace& place, std::vector<std::string> more = {})
      : place_(place), program_(command(place, std::move(more)), place.file("output")) {
    wait_for_file(place.file("ready"));
  }
  pid_t process() const { return program_.process(); }
  std::string number() const { return std::to_string(process()); }
  std::string beats() const { return content_of(place_.file("beats")); }
  /// Waits until it has done some work.
  void works() const {
    const auto before = beats().size();
    EXPECT_TRUE(eventually("the program goes on", [&] { return beats().size() != before; }));
  }
  void kill() {
    ::kill(process(), SIGKILL);
    EXPECT_EQ(program_.end(), -SIGKILL);
  }
  int end() {
    touch(place_.file("end"));
    return program_.end();
  }
  int was_killed() { return program_.end(); }
  /// It was brought back, and its new parent has ended.
  void lives_again() { program_.lives_again(); }

 private:
  static std::vector<std::string> command(const ProcessPlace& place, std::vector<std::string> more) {
    more.insert(more.begin(), {PERDURE_PATIENT, place.files, std::to_string(kStatus)});
    return more;
  }
  const ProcessPlace& place_;
  process::Program program_;
};

/// Gives the first line of the file "beats" that is not the next step of one program; empty: there is none.
inline std::string wrong_in_beats(const std::string& beats) {
  std::istringstream lines(beats);
  std::string line;
  for (std::uint64_t step = 1; std::getline(lines, line); ++step)
    if (line != std::to_string(step)) return "line " + std::to_string(step) + " is '" + line + "'";
  return "";
}

/// Gives the content of /proc for a process that nobody but itself changes.
inline std::string view_of(pid_t process) {
  const std::string root = "/proc/" + std::to_string(process) + "/";
  std::set<std::string> lines = {content_of(root + "maps")};
  for (const auto& entry : std::filesystem::directory_iterator(root + "fd"))
    lines.insert(entry.path().filename().string() + " " + std::filesystem::read_symlink(entry.path()).string());
  for (const auto& entry : std::filesystem::directory_iterator(root + "task")) {
    std::istringstream status(content_of(entry.path() / "status"));
    for (std::string line; std::getline(status, line);)
      for (const char* kept : {"Name", "Pid", "PPid", "TracerPid", "SigPnd", "SigBlk", "SigIgn", "SigCgt", "ShdPnd",
                               "Threads", "Cpus_allowed:", "Seccomp"})
        if (line.starts_with(kept)) lines.insert(entry.path().filename().string() + " " + line);
  }
  std::string all;
  for (const auto& line : lines) all += line + "\n";
  return all;
}

/// Any process may use the numbers of processes and threads: a number in use is free again soon.
inline Ran resumed(const ProcessPlace& place, const std::vector<std::string>& arguments,
                   const std::vector<std::string>& variables = {}) {
  for (;;) {
    std::vector<std::string> all = {"resume"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Ran ran = Perdure(place, all, variables).wait();
    if (ran.err.find("(exists)") == std::string::npos) return ran;
    os::sleep_ns(20'000'000);  // wait: for the number, before it is tried again
  }
}

/// Tells whether a signal has stopped it.
inline bool stands_still(pid_t process) {
  return content_of("/proc/" + std::to_string(process) + "/stat").find(") T ") != std::string::npos;
}

}  // namespace perdure::cli
