#include "process/program_start.hpp"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace perdure::process {
namespace {

bool can_be_run(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

/// Searches as execvp does; empty if not found.
std::string found_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return can_be_run(name) ? name : "";
  const char* path = std::getenv("PATH");
  std::string left = path != nullptr ? path : "/bin:/usr/bin";
  while (true) {
    const auto colon = left.find(':');
    const std::string directory = left.substr(0, colon);
    const std::string file = (directory.empty() ? "." : directory) + "/" + name;
    if (can_be_run(file)) return file;
    if (colon == std::string::npos) return "";
    left.erase(0, colon + 1);
  }
}

[[noreturn]] void be_the_program(char* const* arguments, pid_t parent, const sigset_t& mask, int go, int report) {
  ::prctl(PR_SET_PTRACER, parent, 0, 0, 0);
  char byte = 0;
  ssize_t got = 0;
  do got = ::read(go, &byte, 1);
  while (got < 0 && errno == EINTR);
  if (got != 1) ::_exit(0);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execvp(arguments[0], arguments);
  const int error = errno;
  (void)!::write(report, &error, sizeof error);
  ::_exit(127);
}

}  // namespace

base::Result<std::vector<Obstacle>> obstacles_of_program(const std::string& name) {
  const std::string path = found_program(name);
  if (path.empty()) return base::fail(PERDURE_NOT_FOUND, name, "there is no such program, or it cannot be run");
  std::vector<Obstacle> all;
  std::array<char, EI_NIDENT> begin{};
  struct stat status {};
  const os::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const bool read = file && ::read(file.get(), begin.data(), begin.size()) == static_cast<ssize_t>(begin.size());
  if (read && std::memcmp(begin.data(), ELFMAG, SELFMAG) == 0 && begin[EI_CLASS] != ELFCLASS64)
    all.push_back({"it is a program of 32 bits", "only those of 64 bits are captured", "", ""});
  const bool changes_user =
      ::stat(path.c_str(), &status) == 0 && (((status.st_mode & S_ISUID) != 0 && status.st_uid != ::geteuid()) ||
                                             ((status.st_mode & S_ISGID) != 0 && status.st_gid != ::getegid()));
  if (changes_user)
    all.push_back({"it is setuid: its real and effective users or groups differ",
                   "whoever resumes it could get rights that are not theirs", "start it as the user that it is to be",
                   ""});
  return all;
}

base::Result<ProgramStart> ProgramStart::begin(const std::vector<std::string>& command) {
  std::array<int, 2> go{}, report{};
  if (::pipe2(go.data(), O_CLOEXEC) != 0) return base::fail(base::errno_error(errno, "pipe", command[0]));
  os::Fd go_read(go[0]), go_write(go[1]);
  if (::pipe2(report.data(), O_CLOEXEC) != 0) return base::fail(base::errno_error(errno, "pipe", command[0]));
  os::Fd report_read(report[0]), report_write(report[1]);
  std::vector<char*> arguments;
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  sigset_t mask;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child < 0) return base::fail(base::errno_error(errno, "fork", command[0]));
  if (child == 0) {
    ::close(go[1]);
    be_the_program(arguments.data(), parent, mask, go[0], report[1]);
  }
  return ProgramStart(child, std::move(go_write), std::move(report_read), command[0]);
}

ProgramStart::ProgramStart(ProgramStart&& other) noexcept
    : process_(std::exchange(other.process_, 0)),
      go_(std::move(other.go_)),
      report_(std::move(other.report_)),
      name_(std::move(other.name_)) {}

ProgramStart::~ProgramStart() { give_up(); }

void ProgramStart::give_up() {
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  process_ = 0;
}

base::Result<std::vector<Obstacle>> ProgramStart::obstacles_of_its_files(const std::set<int>& left_out) const {
  PERDURE_TRY(auto files, look_at_files(process_));
  // The exec closes these.
  std::erase_if(files.descriptors, [](const Descriptor& one) { return one.close_on_exec; });
  std::erase_if(files.files, [&](const SeenFile& file) {
    return std::none_of(file.numbers.begin(), file.numbers.end(), [&](int number) {
      return std::any_of(files.descriptors.begin(), files.descriptors.end(),
                         [&](const Descriptor& one) { return one.number == number; });
    });
  });
  files.descriptors.clear();  // their indexes are invalid now
  settle(files, left_out);
  return obstacles_of_files(files);
}

base::Status ProgramStart::go() {
  int error = 0;
  const char byte = 1;
  if (::write(go_.get(), &byte, 1) != 1) error = errno;
  ssize_t got = 0;
  do got = error == 0 ? ::read(report_.get(), &error, sizeof error) : 0;
  while (got < 0 && errno == EINTR);
  if (error == 0) return {};
  return base::fail(base::errno_error(error, "run it", name_));
}

}  // namespace perdure::process
