// Uses three processes: this one, a supervisor and a worker. The supervisor has its own session, which no signal of a
// terminal reaches, and removes the directory once the worker has ended. It ends the worker if that is late, or if this
// process is gone and so its end of the supervisor's lifeline is closed.
#include "supervised.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "base/json.hpp"
#include "os/file.hpp"
#include "os/system.hpp"

namespace perdure::studies {
namespace {

using Work = std::function<base::Result<base::Json>(const std::string&)>;

constexpr int kLookEveryMs = 10;
enum Ending { kEnded = 0, kDied = 1, kLate = 2, kOrphaned = 3 };  // exit statuses of a supervisor

struct Pipe {
  os::Fd read, write;
};

base::Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return base::fail(base::errno_error(errno, "pipe", "study"));
  return Pipe{os::Fd(ends[0]), os::Fd(ends[1])};
}

// Containers may have a memory file system that is too small for any use.
bool memory_has_room() {
  const auto room = os::space("/dev/shm");
  return ::access("/dev/shm", W_OK) == 0 && room && room->available_bytes >= base::GiB;
}

base::Result<std::string> make_directory() {
  std::string path = std::string(memory_has_room() ? "/dev/shm" : "/tmp") + "/perdure-study-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return base::fail(base::errno_error(errno, "mkdtemp", path));
  return path;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// Environment and files would override the options of the work.
void forget_configuration(const std::string& directory) {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (text.starts_with("PERDURE_")) names.push_back(text.substr(0, text.find('=')));
  }
  for (const std::string& name : names) ::unsetenv(name.c_str());
  [[maybe_unused]] const int moved = ::chdir(directory.c_str());  // a directory without perdure.toml
}

void tell(const os::Fd& result, const base::Json& json) {
  const auto bytes = base::encode_cbor(json);
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t sent = ::write(result.get(), bytes.data() + done, bytes.size() - done);
    if (sent < 0 && errno != EINTR) return;
    if (sent > 0) done += static_cast<std::size_t>(sent);
  }
}

[[noreturn]] void be_worker(const Work& work, const std::string& directory, const os::Fd& result) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  forget_configuration(directory);
  const auto outcome = work(directory);
  if (outcome) {
    tell(result, {{"value", *outcome}});
  } else {
    const base::Error& e = outcome.error();
    tell(result, {{"code", static_cast<int>(e.code)}, {"object", e.object}, {"cause", e.cause}, {"remedy", e.remedy}});
  }
  std::fflush(nullptr);
  ::_exit(0);
}

Ending watch(pid_t worker, const os::Fd& lifeline, double timeout_s) {
  const std::uint64_t deadline = os::monotonic_ns() + static_cast<std::uint64_t>(timeout_s * 1e9);
  for (;;) {
    int status = 0;
    if (::waitpid(worker, &status, WNOHANG) == worker) return WIFEXITED(status) ? kEnded : kDied;
    pollfd ends{lifeline.get(), POLLIN, 0};
    const bool orphaned = ::poll(&ends, 1, kLookEveryMs) == 1;
    if (!orphaned && os::monotonic_ns() < deadline) continue;
    ::kill(worker, SIGKILL);
    wait_for(worker);
    return orphaned ? kOrphaned : kLate;
  }
}

[[noreturn]] void be_supervisor(const Work& work, const std::string& directory, double timeout_s, Pipe& lifeline,
                                Pipe& result) {
  ::setsid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  lifeline.write.reset();
  result.read.reset();
  const pid_t worker = ::fork();
  if (worker == 0) be_worker(work, directory, result.write);
  result.write.reset();
  const Ending ending = worker < 0 ? kDied : watch(worker, lifeline.read, timeout_s);
  (void)os::remove_tree(directory);
  ::_exit(ending);
}

std::vector<std::byte> read_all(const os::Fd& from) {
  std::vector<std::byte> bytes;
  std::array<std::byte, 4096> block{};
  for (;;) {
    const ssize_t got = ::read(from.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return bytes;
    bytes.insert(bytes.end(), block.begin(), block.begin() + got);
  }
}

base::Result<base::Json> understand(const std::vector<std::byte>& told, int status, double timeout_s) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == kLate)
    return base::fail(PERDURE_TIMEOUT, "run", "it did not end within " + std::to_string(timeout_s) + " s");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != kEnded || told.empty())
    return base::fail(PERDURE_PEER_FAILED, "run", "its process died");
  PERDURE_TRY(auto json, base::decode_cbor(told, "outcome of a run"));
  if (json.contains("value")) return std::move(json["value"]);
  PERDURE_TRY(const auto code, base::get_u64(json, "code", "outcome of a run"));
  return base::fail(static_cast<base::ErrorCode>(code), json.value("object", ""), json.value("cause", ""),
                    json.value("remedy", ""));
}

}  // namespace

base::Result<base::Json> run_supervised(double timeout_s, const Work& work) {
  PERDURE_TRY(Pipe lifeline, make_pipe());
  PERDURE_TRY(Pipe result, make_pipe());
  PERDURE_TRY(const std::string directory, make_directory());
  std::fflush(nullptr);  // otherwise both would write buffered output
  const pid_t supervisor = ::fork();
  if (supervisor == 0) be_supervisor(work, directory, timeout_s, lifeline, result);
  lifeline.read.reset();
  result.write.reset();
  const auto told = supervisor < 0 ? std::vector<std::byte>() : read_all(result.read);
  const int status = supervisor < 0 ? -1 : wait_for(supervisor);
  (void)os::remove_tree(directory);  // in case the supervisor itself was killed
  return understand(told, status, timeout_s);
}

}  // namespace perdure::studies
