#include "process/capi/started_program.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

extern "C" char** environ;

namespace perdure::process {
namespace {

/// Returns <directory of the library>/perdure/perdure-process.
std::string program_path() {
  Dl_info found{};
  static const char here = 0;
  std::string path = ::dladdr(&here, &found) != 0 && found.dli_fname != nullptr ? found.dli_fname : "";
  path.resize(path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/') + 1);
  return path + "perdure/perdure-process";
}

struct Beginning {
  const char* path;
  char** words;
  int input, output;  // 3 or more; below 0: none
  int error;
};

/// Runs in the caller's memory, on a stack of its own. It makes only system calls.
int begin(void* given) {
  auto& beginning = *static_cast<Beginning*>(given);
  const int nothing = ::open("/dev/null", O_RDWR);
  const int output = beginning.output < 0 ? nothing : beginning.output;
  const bool arranged = nothing >= 0 && ::dup2(beginning.input, 0) == 0 && ::dup2(output, 1) == 1 &&
                        ::dup2(nothing, 2) == 2 && ::syscall(SYS_close_range, 3U, ~0U, 0U) == 0;
  if (arranged) ::execve(beginning.path, beginning.words, environ);
  beginning.error = errno;
  ::_exit(127);
}

/// Makes a pipe whose ends are none of the first three descriptors, which the child needs.
bool make_pipe(std::array<int, 2>& ends) {
  std::array<int, 2> made{};
  if (::pipe2(made.data(), O_CLOEXEC) != 0) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    ends[i] = made[i] > 2 ? made[i] : ::fcntl(made[i], F_DUPFD_CLOEXEC, 3);
    if (ends[i] != made[i]) ::close(made[i]);
  }
  if (ends[0] >= 0 && ends[1] >= 0) return true;
  for (const int end : ends)
    if (end >= 0) ::close(end);
  return false;
}

/// Starts a child that sends no signal at its end; only wait4() with its number and __WALL finds it. It shares our
/// memory until execve(), because a copy of much memory would take long.
pid_t clone_to(Beginning& beginning) {
  constexpr std::size_t kStackBytes = 64 * 1024;
  void* stack = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return -1;
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // so that no signal handler runs in the child
  constexpr int kNoSignal = 0;
  const int child =
      ::clone(begin, static_cast<char*>(stack) + kStackBytes, CLONE_VM | CLONE_VFORK | kNoSignal, &beginning);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::munmap(stack, kStackBytes);
  errno = error;
  return child;
}

void shut(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

}  // namespace

HelperProgram::HelperProgram(std::vector<std::string> words, bool answers_by_pipe) : path_(program_path()) {
  words.insert(words.begin(), path_);
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  std::array<int, 2> go{-1, -1}, answer{-1, -1};
  bool made = make_pipe(go);
  if (made && answers_by_pipe) made = make_pipe(answer);
  if (made) {
    Beginning beginning{path_.c_str(), pointers.data(), go[0], answer[1], 0};
    process_ = clone_to(beginning);
    if (process_ > 0 && beginning.error != 0) {
      (void)wait();
      process_ = 0;
      errno = beginning.error;
    }
  }
  const int error = errno;
  shut(go[0]);
  shut(answer[1]);
  go_ = go[1];
  answer_ = answer[0];
  errno = error;
}

HelperProgram::~HelperProgram() {
  shut(go_);
  shut(answer_);
}

// If processes may trace only their own children (yama), the helper must be named. Elsewhere the call is unknown and
// fails.
void HelperProgram::begin_work() {
  ::prctl(PR_SET_PTRACER, process_, 0, 0, 0);
  shut(go_);
}

void HelperProgram::read_answer(HelperAnswer& answer) {
  HelperAnswer read;
  std::size_t got = 0;
  while (got < sizeof read) {
    const ssize_t more = ::read(answer_, reinterpret_cast<char*>(&read) + got, sizeof read - got);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) break;
    got += static_cast<std::size_t>(more);
  }
  if (got == sizeof read) answer = read;
  shut(answer_);
}

// Makes the system call directly: the library's function is a cancellation point, and could end the thread instead.
HelperEnd HelperProgram::wait() {
  HelperEnd end;
  long told = 0;
  do told = ::syscall(SYS_wait4, process_, &end.status, __WALL, nullptr);
  while (told < 0 && errno == EINTR);
  end.missing = told < 0;
  return end;
}

}  // namespace perdure::process
