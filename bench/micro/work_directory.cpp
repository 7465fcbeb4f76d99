#include "work_directory.hpp"

#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "os/file.hpp"
#include "os/system.hpp"
#include "together.hpp"
#include "world.hpp"

namespace perdure::micro {
namespace {

std::atomic<bool> interrupted = false;

sigset_t interrupting_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

// Ranks that are not interrupted yet may still write there; the next round removes their files.
void remove_for_good(const std::string& directory) {
  constexpr int kRounds = 100;
  constexpr std::uint64_t kPause_ns = 5'000'000;
  for (int round = 0; round < kRounds; ++round) {
    const bool removed = os::remove_tree(directory).has_value();
    if (const auto there = os::exists(directory); removed && there && !*there) return;
    os::sleep_ns(kPause_ns);
  }
}

base::Result<std::string> make_temporary(const std::string& parent, const std::string& benchmark) {
  std::string path = parent + "/perdure-" + benchmark + "-XXXXXX";
  if (::mkdtemp(path.data()) != nullptr) return path;
  base::Error error = base::errno_error(errno, "mkdtemp", parent);
  error.remedy = "name an existing directory that you can write to (--directory)";
  return base::fail(std::move(error));
}

}  // namespace

Interruption::Interruption() {
  const sigset_t signals = interrupting_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  watcher_ = std::thread([this] { watch(); });
}

Interruption::~Interruption() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ::pthread_kill(watcher_.native_handle(), SIGTERM);  // wakes the watcher, the only thread that waits for it
  watcher_.join();
}

void Interruption::clean(const std::string& directory) {
  const std::lock_guard lock(mutex_);
  directory_ = directory;
}

bool Interruption::under_way() { return interrupted; }

void Interruption::watch() {
  const sigset_t signals = interrupting_signals();
  int signal = 0;
  ::sigwait(&signals, &signal);
  const std::lock_guard lock(mutex_);
  if (ending_) return;
  interrupted = true;
  if (!directory_.empty()) remove_for_good(directory_);
  ::_exit(128 + signal);
}

base::Result<std::unique_ptr<WorkDirectory>> WorkDirectory::make(const std::string& parent,
                                                                 const std::string& benchmark,
                                                                 Interruption& interruption) {
  const char* temporary = ::getenv("TMPDIR");
  const std::string within = !parent.empty() ? parent : temporary != nullptr ? temporary : "/tmp";
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  base::Result<std::string> made = rank == 0 ? make_temporary(within, benchmark) : std::string{};
  PERDURE_CHECK(agree(made ? base::Status{} : base::fail(made.error())));
  const std::string path = bench::broadcast(*made);
  interruption.clean(path);
  PERDURE_CHECK(agree(os::make_directory(path)));
  return std::unique_ptr<WorkDirectory>(new WorkDirectory(path));
}

WorkDirectory::~WorkDirectory() {
  wait_quietly();
  remove_for_good(path_);
  wait_quietly();
}

}  // namespace perdure::micro
