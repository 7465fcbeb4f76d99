// Tests engine threads that the system refuses, and memory that they cannot get. Each gives an error or success. The
// application never ends, and no rank waits for ever.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <set>

#include "node_directories.hpp"
#include "node_loss.hpp"
#include "support/sanitized.hpp"

namespace {

using namespace perdure::test_support;

constexpr int kAnError = 3;  // exit code: some call failed, with a text

/// Records which of a job's calls failed; each must have a text.
class Calls {
 public:
  void note(perdure_t* handle, const char* call, perdure_status status) {
    if (status == PERDURE_OK) return;
    failed_ = true;
    if (std::string(perdure_error_text(handle)).empty()) mute_ = true;
    std::fprintf(stderr, "%s: %s: %s\n", call, perdure_status_name(status), perdure_error_text(handle));
  }
  int code() const { return mute_ ? 1 : failed_ ? kAnError : 0; }

 private:
  bool failed_ = false, mute_ = false;
};

/// Makes two checkpoints to the store, with captures flushed while they run, and a restore. Makes all calls, even after
/// failures; waits take at most `patience_s`.
int whole_job(const Rank& rank, const std::string& options, double patience_s) {
  char message[2000] = "";
  perdure_t* handle = nullptr;
  if (perdure_open_communicator(&rank.communicator, options.c_str(), &handle, message, sizeof message) != PERDURE_OK) {
    std::fprintf(stderr, "open: %s\n", message);
    return message[0] == '\0' ? 1 : kAnError;
  }
  State state(rank.rank, 24000);
  state.protect(handle);
  Calls calls;
  for (std::int64_t version : {1, 2}) {
    state.advance(static_cast<std::uint64_t>(version));
    calls.note(handle, "checkpoint", state.capture(handle, version));
    calls.note(handle, "level node", perdure_wait(handle, "app", version, PERDURE_LEVEL_NODE, patience_s));
    calls.note(handle, "level store", perdure_wait(handle, "app", version, PERDURE_LEVEL_STORE, patience_s));
  }
  const perdure_status restored = perdure_restore(handle, "app", PERDURE_LATEST);
  calls.note(handle, "restore", restored);
  if (restored == PERDURE_OK && !state.right()) return 91;
  calls.note(handle, "close", perdure_close(&handle));
  return calls.code();
}

/// Allows `count` more descriptors than are open now, also for perdured.
void leave_descriptors(std::size_t count) {
  std::set<std::size_t> open;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd"))
    open.insert(std::stoul(entry.path().filename().string()));
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  std::size_t numbers = 0;  // some open descriptors can be far above the others
  for (std::size_t left = count; left > 0; ++numbers) left -= open.contains(numbers) ? 0 : 1;
  limit.rlim_cur = limit.rlim_max = numbers;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

class ThreadFaults : public ::testing::TestWithParam<const char*> {
 protected:
  /// Runs a job of two nodes under this rule, which all their processes obey. Returns true if no call failed.
  bool job_under(const std::string& rule, std::optional<std::size_t> descriptors = {}) {
    TemporaryDirectory directory;
    RunOptions run;
    run.ranks = 2;
    run.kill_all_when_one_dies = false;
    run.timeout_s = 120;
    run.in_child = [&](int) {
      ::setenv("PERDURE_TEST_FAULTS", rule.c_str(), 1);
      if (descriptors) leave_descriptors(*descriptors);
    };
    // No call fails in the job that must succeed; its close returns when it is done, however slow the machine is. A job
    // that cannot publish waits all of its time.
    const bool must_succeed = rule.empty() && !descriptors;
    const std::string options = options_in(directory.path(), GetParam(),
                                           "node.ranks_per_node=1;redundancy.scheme=xor;flush.during_capture=always;"
                                           "checkpoint.timeout=20;engine.start_timeout=5;engine.drain_timeout=" +
                                               std::string(must_succeed ? "60" : "2"));
    const auto outcome =
        run_ranks(run, [&](const Rank& rank) { return whole_job(rank, options, must_succeed ? 30 : 1); });
    bool good = true;
    for (const int code : outcome.exit_codes) {
      EXPECT_TRUE(code == 0 || code == kAnError)
          << rule << (descriptors ? std::to_string(*descriptors) + " descriptors" : "") << ": " << outcome.text();
      good = good && code == 0;
    }
    kill_engines(directory.path());
    return good;
  }
  /// The rule names a thread of a process by number: even ones with perdured, otherwise odd ones. A campaign tries all
  /// of them in both modes.
  static bool daemon() { return std::string(GetParam()) == "daemon"; }
  void SetUp() override {
    if (lacks_protection(GetParam())) GTEST_SKIP() << kNoProtection;
  }
  static std::vector<int> places() {
    std::vector<int> places;
    for (int number = daemon() && !campaign() ? 2 : 1; number <= unless_sanitized(45, 8); number += campaign() ? 1 : 2)
      places.push_back(number);
    return places;
  }
};
INSTANTIATE_TEST_SUITE_P(Modes, ThreadFaults, ::testing::Values("embedded", "daemon"),
                         [](const auto& param) { return std::string(param.param); });

// Threads of a capture on write belong to the application, wherever the engine runs.
class ThreadFaultsOnWrite : public ThreadFaults {};
INSTANTIATE_TEST_SUITE_P(OnWrite, ThreadFaultsOnWrite, ::testing::Values("embedded_on_write"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(ThreadFaultsOnWrite, AThreadOfACaptureThatIsRefusedIsDoneWithout) {
  for (const char* name : {"capture", "copy on write", "copy chunks"})
    for (const char* when : {"1:1", "2:1", "1:99"})
      EXPECT_TRUE(job_under("thread:" + std::string(name) + ":EAGAIN:" + when)) << name << " " << when;
}

TEST_P(ThreadFaultsOnWrite, ABodyThatGetsNoMemoryFailsItsCaptureOrBeginsAgain) {
  for (const char* when : {"1:1", "2:1", "1:2"}) {
    EXPECT_FALSE(job_under("thread_body:capture:ENOMEM:" + std::string(when))) << when;
    EXPECT_TRUE(job_under("thread_body:copy on write:ENOMEM:" + std::string(when))) << when;
  }
}

// Refuses one thread after the other, until there is no such thread any more.
TEST_P(ThreadFaults, AThreadThatIsRefusedIsAnErrorOrIsDoneWithout) {
  EXPECT_TRUE(job_under(""));
  EXPECT_FALSE(job_under("thread:event loop:EAGAIN")) << "without it there is no engine";
  for (const int number : places()) (void)job_under("thread::EAGAIN:" + std::to_string(number) + ":1");
}

TEST_P(ThreadFaults, ABodyThatGetsNoMemoryFailsWhatItDid) {
  for (const int number : places()) (void)job_under("thread_body::ENOMEM:" + std::to_string(number) + ":1");
}

TEST_P(ThreadFaults, MemoryThatIsRefusedInTheMidstOfWorkFailsThatWork) {
  // Outside campaigns each mode takes two of the four; sanitized builds take one.
  std::vector<const char*> times = daemon() ? std::vector{"2:1", "9:2"} : std::vector{"1:1", "5:1"};
  if (campaign()) times = {"1:1", "2:1", "5:1", "9:2"};
  times.resize(std::min<std::size_t>(times.size(), unless_sanitized(4, 1)));
  for (const char* where : {"pwrite:/store", "pread:/", "pwrite:/catalog", "open:/", "rename:/", "fsync:/", "readdir:/",
                            "stat:/", "mkdir:/", "unlink:/", "fallocate:/"})
    for (const char* when : times) (void)job_under(std::string(where) + ":BAD_ALLOC:" + when);
}

// Goes from no descriptor to enough, so that every call that opens something is once the first to fail.
TEST_P(ThreadFaults, DescriptorsThatRunOutAreAnErrorAndNobodyWaitsForEver) {
  // UBSan opens a pipe to find out whether an object's memory is readable, and calls the object invalid if it gets
  // none.
  if (kSanitized) GTEST_SKIP() << "the sanitizers need descriptors themselves";
  std::size_t enough = 0;
  for (std::size_t left = 0; left < 120 && enough < 3; left += campaign() ? 1 : 2)
    enough = job_under("", left) ? enough + 1 : 0;
  EXPECT_EQ(enough, 3U);
}

// Refuses threads of a recovery.
class ThreadFaultsOfARecovery : public NodeLoss {};
INSTANTIATE_TEST_SUITE_P(Modes, ThreadFaultsOfARecovery,
                         ::testing::Values(Loss{"embedded", "embedded", "xor", 4, 1, {}, true, ""}),
                         [](const auto& param) { return param.param.name; });

TEST_P(ThreadFaultsOfARecovery, AreErrorsOfTheRestoreOrAreDoneWithout) {
  live_and_die(1);
  ASSERT_NO_FATAL_FAILURE(lose({1}));
  const NodesAsTheyWere after_the_loss(directory_.path());
  std::vector<const char*> faults = {"thread_body:?:ENOMEM:1:1", "thread:?:EAGAIN", "thread:?:EAGAIN:1:1"};
  faults.resize(unless_sanitized(faults.size(), std::size_t{1}));
  for (const char* name : {"recovery", "recovery helper", "exporter", "request", "service", "wire"})
    for (const char* fault : faults) {
      std::string rule = fault;
      rule.replace(rule.find('?'), 1, name);
      RunOptions run = without_store();
      run.timeout_s = 120;
      run.in_child = [before = run.in_child, &rule](int rank) {
        before(rank);
        ::setenv("PERDURE_TEST_FAULTS", (std::string(::getenv("PERDURE_TEST_FAULTS")) + ";" + rule).c_str(), 1);
      };
      const auto outcome = run_ranks(run, [&](const Rank& rank) {
        char message[2000] = "";
        perdure_t* handle = nullptr;
        const std::string configured = options();
        if (perdure_open_communicator(&rank.communicator, configured.c_str(), &handle, message, sizeof message) !=
            PERDURE_OK)
          return message[0] == '\0' ? 1 : kAnError;
        State state(rank.rank, kLossWords);
        state.protect(handle);
        Calls calls;
        const perdure_status restored = perdure_restore(handle, "app", PERDURE_LATEST);
        calls.note(handle, "restore", restored);
        if (restored == PERDURE_OK && !(state.step == 1 && state.right())) return 91;
        rank.barrier();
        ::_exit(calls.code());
      });
      for (const int code : outcome.exit_codes)
        EXPECT_TRUE(code == 0 || code == kAnError) << rule << ": " << outcome.text();
      kill_engines(directory_.path());
      after_the_loss.put_back();
    }
}

}  // namespace
