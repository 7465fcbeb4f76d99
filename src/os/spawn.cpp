#include "os/spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <system_error>

#include "os/file.hpp"

namespace perdure::os {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

// From here to exec only async-signal-safe calls are allowed: the forking process may have threads.
[[noreturn]] void give_up(int report_fd) {
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(report_fd, &error, sizeof error);
  ::_exit(127);
}

[[noreturn]] void become_daemon(char* const* argv, char* const* environment, int errors_fd, int keep_fd,
                                int report_fd) {
  ::setsid();
  const pid_t second = ::fork();
  if (second < 0) give_up(report_fd);
  if (second > 0) ::_exit(0);
  ::dup2(errors_fd, 2);
  const int null_fd = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 2; ++fd) ::dup2(null_fd, fd);
  const int limit = static_cast<int>(::sysconf(_SC_OPEN_MAX));
  for (int fd = 3; fd < (limit > 65536 || limit < 0 ? 65536 : limit); ++fd)
    if (fd != keep_fd && fd != report_fd) ::close(fd);
  if (keep_fd >= 0) ::fcntl(keep_fd, F_SETFD, 0);
  ::fcntl(report_fd, F_SETFD, FD_CLOEXEC);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (::chdir("/") == 0) ::execve(argv[0], argv, environment);
  give_up(report_fd);
}

}  // namespace

base::Status spawn_daemon(const BackgroundProgram& program) {
  std::vector<std::string> words = {program.path}, variables = program.environment;
  words.insert(words.end(), program.arguments.begin(), program.arguments.end());
  const std::vector<char*> argv = pointers(words), environment = pointers(variables);
  PERDURE_CHECK(remove_file(program.errors));
  PERDURE_TRY(const File errors, File::open(program.errors, Open::create_new));
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) return base::fail(base::errno_error(errno, "pipe", program.path));
  const pid_t child = ::fork();
  if (child == 0) become_daemon(argv.data(), environment.data(), errors.fd(), program.keep_fd, report[1]);
  ::close(report[1]);
  int error = child < 0 ? errno : 0;
  if (child > 0) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    // The read returns when exec closed the pipe, or with the reason why exec failed.
    if (::read(report[0], &error, sizeof error) != static_cast<ssize_t>(sizeof error)) error = 0;
  }
  ::close(report[0]);
  if (error == EAGAIN)
    return base::fail(base::exception_error(std::system_error(error, std::generic_category()), program.path));
  if (error != 0) return base::fail(base::errno_error(error, "start", program.path));
  return {};
}

}  // namespace perdure::os
