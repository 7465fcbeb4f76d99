#include "os/spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

namespace perdure::os {
namespace {

// From here to exec only async-signal-safe calls: the process we were forked from may have threads.
[[noreturn]] void become_daemon(const char* program, char* const* argv, int keep_fd, int report_fd) {
  ::setsid();
  const pid_t second = ::fork();
  if (second != 0) ::_exit(second < 0 ? 1 : 0);
  const int null_fd = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd) ::dup2(null_fd, fd);
  const int limit = static_cast<int>(::sysconf(_SC_OPEN_MAX));
  for (int fd = 3; fd < (limit > 65536 || limit < 0 ? 65536 : limit); ++fd)
    if (fd != keep_fd && fd != report_fd) ::close(fd);
  if (keep_fd >= 0) ::fcntl(keep_fd, F_SETFD, 0);
  ::fcntl(report_fd, F_SETFD, FD_CLOEXEC);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (::chdir("/") == 0) ::execv(program, argv);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(report_fd, &error, sizeof error);
  ::_exit(127);
}

}  // namespace

base::Status spawn_daemon(const std::string& program, const std::vector<std::string>& arguments, int keep_fd) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) return base::fail(base::errno_error(errno, "pipe", program));
  const pid_t child = ::fork();
  if (child == 0) become_daemon(program.c_str(), argv.data(), keep_fd, report[1]);
  ::close(report[1]);
  int error = child < 0 ? errno : 0;
  if (child > 0) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    // Ends when exec closed the pipe, or with the reason why there was no exec.
    if (::read(report[0], &error, sizeof error) != static_cast<ssize_t>(sizeof error)) error = 0;
  }
  ::close(report[0]);
  if (error != 0) return base::fail(base::errno_error(error, "start", program));
  return {};
}

}  // namespace perdure::os
