#include "inspect/check_protection_remover.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <span>

#include "os/file.hpp"
#include "os/system.hpp"

namespace perdure::inspect {
namespace {

constexpr const char* kObject = "check of protection";

/// The child waits until the other end of the pipe is closed. A program that is being killed with us may go on writing
/// for a while. So the child looks again until no file has come back.
[[noreturn]] void wait_and_remove(int lifeline, const std::vector<std::string>& directories,
                                  const std::vector<std::string>& parents) {
  constexpr int kLooks = 60, kQuietLooks = 3;
  ::setsid();
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_IGN);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int stream = 0; stream <= 2; ++stream) ::dup2(nothing, stream);
  ::dup2(lifeline, 3);
  ::close_range(4, ~0U, 0);  // an inherited descriptor must not make anybody wait for us
  char byte = 0;
  for (ssize_t got = 1; got > 0 || (got < 0 && errno == EINTR);) got = ::read(3, &byte, 1);
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
  for (const std::string& path : parents) (void)::rmdir(path.c_str());  // unless somebody uses it meanwhile
  ::_exit(0);
}

/// Moves the descriptor to a number that no standard stream has. If the streams are closed, new descriptors get their
/// numbers, and output to a stream would go there. Closes `descriptor`.
base::Result<os::Fd> above_streams(int descriptor) {
  const os::Fd given(descriptor);
  os::Fd moved(::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (moved.get() < 0) return base::fail(base::errno_error(errno, "fcntl", kObject));
  return moved;
}

/// Gives the command line, with a zero byte behind every word; empty when the process is gone. It does not use
/// os::read_file: such a file has no size.
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

base::Result<std::unique_ptr<Remover>> Remover::start(std::vector<std::string> directories,
                                                      std::vector<std::string> parents) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::fail(base::errno_error(errno, "pipe2", kObject));
  PERDURE_TRY(os::Fd read_end, above_streams(ends[0]));
  PERDURE_TRY(os::Fd write_end, above_streams(ends[1]));
  const pid_t child = ::fork();
  if (child < 0) return base::fail(base::errno_error(errno, "fork", kObject));
  if (child == 0) {
    ::close(write_end.get());
    wait_and_remove(read_end.get(), directories, parents);
  }
  return std::unique_ptr<Remover>(new Remover(std::move(write_end), child));
}

Remover::~Remover() = default;

void Remover::dismiss() {
  if (child_ < 0) return;
  ::kill(child_, SIGKILL);
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
}

}  // namespace perdure::inspect
