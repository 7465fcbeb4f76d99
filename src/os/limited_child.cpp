#include "os/limited_child.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define PERDURE_ADDRESSES_ARE_TAKEN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PERDURE_ADDRESSES_ARE_TAKEN
#endif
#endif

namespace perdure::os {
namespace {

constexpr int kPipeBytes = 1 << 20;
constexpr int kFailed = 125;  // status of a child whose work threw

void limit(decltype(RLIMIT_CPU) what, std::uint64_t most) {
  rlimit now{};
  if (::getrlimit(what, &now) != 0) return;
  now.rlim_cur = std::min<rlim_t>(most, now.rlim_max);
  (void)::setrlimit(what, &now);
}

#if !defined(PERDURE_ADDRESSES_ARE_TAKEN)
std::uint64_t own_addresses() {
  unsigned long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}
#endif

void become_limited(const LimitedChild::Limits& limits, int pipe) {
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  (void)::prctl(PR_SET_DUMPABLE, 0);
  limit(RLIMIT_CORE, 0);
#if !defined(PERDURE_ADDRESSES_ARE_TAKEN)
  limit(RLIMIT_AS, own_addresses() + limits.memory_bytes);
#else
  (void)limits;
#endif
  for (const int signal : {SIGXCPU, SIGPIPE, SIGTERM, SIGINT}) (void)::signal(signal, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (nothing >= 0 && stream != pipe) (void)::dup2(nothing, stream);
}

}  // namespace

void LimitedChild::Output::say(base::ConstByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(pipe_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) ::_exit(kFailed);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void LimitedChild::Output::step() {
  rusage used{};
  if (::getrusage(RUSAGE_SELF, &used) != 0) return;
  const auto parts_us = static_cast<std::uint64_t>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  const auto seconds = static_cast<std::uint64_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + parts_us / 1'000'000;
  limit(RLIMIT_CPU, seconds + 1 + step_cpu_s_);
}

base::Result<LimitedChild> LimitedChild::start(const Limits& limits, const std::function<void(Output&)>& work) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::fail(base::errno_error(errno, "pipe2", "a child of this process"));
  Fd heard(ends[0]), said(ends[1]);
  (void)::fcntl(said.get(), F_SETPIPE_SZ, kPipeBytes);
  const pid_t parent = ::getpid(), process = ::fork();
  if (process < 0) return base::fail(base::errno_error(errno, "fork", "a child of this process"));
  if (process > 0) return LimitedChild(process, std::move(heard), limits);
  (void)::close(heard.get());
  become_limited(limits, said.get());
  if (::getppid() != parent) ::_exit(kFailed);  // the parent died before we asked to die with it
  Output output(said.get(), limits.step_cpu_s);
  output.step();
  try {
    work(output);
  } catch (...) {
    ::_exit(kFailed);
  }
  ::_exit(0);
}

LimitedChild::LimitedChild(LimitedChild&& other) noexcept
    : process_(std::exchange(other.process_, -1)), pipe_(std::move(other.pipe_)), limits_(other.limits_) {}

LimitedChild::~LimitedChild() {
  if (process_ < 0) return;
  (void)::kill(process_, SIGKILL);
  (void)end();
}

bool LimitedChild::hear(base::ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t read = ::read(pipe_.get(), bytes.data(), bytes.size());
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(read));
  }
  return true;
}

std::string LimitedChild::end() {
  pipe_.reset();  // a child that still writes ends
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0)
    if (errno != EINTR) {
      status = 0;  // the program reaps all children itself
      break;
    }
  process_ = -1;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    return "it took more than " + std::to_string(limits_.step_cpu_s) + " s of a processor for one step";
  if (WIFSIGNALED(status))
    return "it was ended by signal " + std::to_string(WTERMSIG(status)) + " (" + ::strsignal(WTERMSIG(status)) + ")";
  return "it ended in the middle, with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace perdure::os
