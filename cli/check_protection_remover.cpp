#include "cli/check_protection_remover.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <span>

#include "os/file.hpp"
#include "os/system.hpp"

namespace perdure::cli {
namespace {

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

/// With a zero byte behind every word; empty when the process is gone. Not os::read_file: such a file has no size.
std::string command_line(const std::string& process) {
  std::string text(64 * base::KiB, '\0');
  const auto file = os::File::open("/proc/" + process + "/cmdline", os::Open::read);
  if (!file) return {};
  const auto got = file->read_some(0, std::as_writable_bytes(std::span(text)));
  text.resize(got.value_or(0));
  return text;
}

}  // namespace

void end_engines(const std::vector<std::string>& directories) {
  const auto processes = os::list_directory("/proc");
  if (!processes) return;
  for (const os::Entry& entry : *processes) {
    if (entry.name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string command = command_line(entry.name);
    const std::string program = command.substr(0, command.find('\0'));
    if (program.substr(program.rfind('/') + 1) != "perdured") continue;
    for (const std::string& directory : directories)
      if (command.find(directory + "/") != std::string::npos) ::kill(std::stoi(entry.name), SIGKILL);
  }
}

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

}  // namespace perdure::cli
