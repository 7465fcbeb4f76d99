// Tests where engine threads run if a launcher bound each rank to one processor, and that the application's own threads
// keep their affinity. The kernel reports the affinity of every thread.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "os/cpu_facts.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_directory.hpp"
#include "thread_cpus.hpp"

namespace {

using namespace perdure;
using namespace perdure::test_support;
using os::CpuSet;

constexpr int kSanitizerThreads = PERDURE_THREAD_SANITIZER;
constexpr std::size_t kDozenChunks = 200'000;  // words

struct Job {
  std::string mode = "embedded", options = {};
  CpuSet bound, engine;           ///< affinity of each rank, and the expected affinity of its engine's threads
  std::string launcher = {};      ///< name of the process that starts the ranks; empty: the test
  std::size_t least_threads = 4;  ///< of an embedded engine, besides the application's
};

class EngineCpus : public ::testing::Test {
 protected:
  void SetUp() override {
    if (all_.count() < 2) GTEST_SKIP() << "one processor: nothing to tell apart";
  }
  // Two nodes keep redundancy for one another, so that the network's threads exist, too.
  std::string options(const Job& job) const {
    return options_in(directory_.path(), job.mode,
                      "node.ranks_per_node=1;redundancy.scheme=partner;engine.idle_exit=60;" + job.options);
  }
  int run_rank(const Job& job, const Rank& rank) const {
    os::use_cpus(job.bound);
    Application application(job.bound);
    perdure_t* handle = rank.open(options(job));
    State state(rank.rank, kDozenChunks);
    state.protect(handle);
    application.begin_thread();
    const char* name = job.mode.c_str();  // jobs of both modes share a store here
    std::set<int> seen;
    for (std::int64_t step = 1; step <= 3; ++step) {
      state.advance(static_cast<std::uint64_t>(step));
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, name, step));
      for (int look = 0; look < 5; ++look) {  // while chunks are flushed and replicated
        for (const auto& [thread, cpus] : application.others()) seen.insert(thread);
        REQUIRE(application.others_run_on(job.engine));
        REQUIRE(daemons_run_on(job));
      }
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, name, step, PERDURE_LEVEL_NODE, PERDURE_FOREVER));
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, name, step, PERDURE_LEVEL_STORE, PERDURE_FOREVER));
      REQUIRE(application.stayed());
    }
    REQUIRE(job.mode != "embedded" || seen.size() >= job.least_threads);
    REQUIRE(os::own_cpus() == job.bound);
    REQUIRE(perdure_close(&handle) == PERDURE_OK);
    REQUIRE(application.stayed());
    return 0;
  }
  bool daemons_run_on(const Job& job) const {
    if (job.mode == "embedded") return true;
    const auto pids = engine_pids(directory_.path());
    if (pids.empty()) return false;
    for (const int pid : pids)
      if (const auto threads = threads_of(pid); threads.size() < 4 || !all_on(job.engine, threads, "perdured"))
        return false;
    return true;
  }
  // Runs the job in a process with the launcher's name, if one is given.
  void run(const Job& job) const {
    RunOptions two;
    two.ranks = 2;
    const auto ranks = [&] {
      const auto outcome = run_ranks(two, [&](const Rank& rank) { return run_rank(job, rank); });
      if (!outcome.all(0)) std::fprintf(stderr, "%s\n", outcome.text().c_str());
      return outcome.all(0) ? 0 : 1;
    };
    std::fflush(nullptr);
    const pid_t pid = ::fork();
    if (pid == 0) {
      if (!job.launcher.empty()) ::prctl(PR_SET_NAME, job.launcher.c_str());
      ::_exit(ranks());
    }
    int status = -1;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0) << "see the messages of the ranks";
    if (job.mode == "daemon") stop_daemons(directory_.path());
  }
  Job bound_by_mpirun(const std::string& mode, const std::string& more = "") const {
    return {mode, more, first_, all_, "mpirun"};
  }

  const CpuSet all_ = os::own_cpus(), first_ = first_of(all_);
  TemporaryDirectory directory_;
};

TEST_F(EngineCpus, OfAnEmbeddedEngineAreTheNodesWhenMpirunBoundItsRank) { run(bound_by_mpirun("embedded")); }

TEST_F(EngineCpus, OfPerduredAreTheNodesWhenMpirunBoundTheRankThatStartsIt) { run(bound_by_mpirun("daemon")); }

TEST_F(EngineCpus, AreTheListedOnes) {
  for (const char* mode : {"embedded", "daemon"}) {
    Job job = bound_by_mpirun(mode, "engine.cpus=" + (all_ - first_).text() + ";job=listed-" + mode);
    job.engine = all_ - first_;
    run(job);
  }
}

TEST_F(EngineCpus, AreTheRanksWhenTheyAreToBeInherited) {
  Job job = bound_by_mpirun("embedded", "engine.cpus=inherit");
  job.engine = first_;
  run(job);
}

TEST_F(EngineCpus, OfAJobThatWasGivenOneProcessorAreThatOne) {
  for (const auto& ancestor : os::gather_cpu_facts().ancestors)
    if (ancestor.launcher) GTEST_SKIP() << "these tests were started by " << ancestor.name;
  for (const char* mode : {"embedded", "daemon"}) {
    Job job = bound_by_mpirun(mode, std::string("job=confined-") + mode);
    job.launcher = "";  // as after taskset
    job.engine = first_;
    run(job);
  }
}

TEST_F(EngineCpus, OfAPerduredThatWasStartedByHandAreWhatItsOwnOptionSays) {
  std::stringstream options(options_in(directory_.path(), "daemon", "engine.cpus=" + first_.text()));
  std::vector<std::string> words = {PERDURED_PATH};
  for (std::string setting; std::getline(options, setting, ';');) words.insert(words.end(), {"--set", setting});
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::execv(PERDURED_PATH, arguments.data());
    ::_exit(127);
  }
  Threads threads;  // it serves once it has all its threads
  EXPECT_TRUE(eventually("it has its threads", [&] {
    threads = threads_of(pid);
    return threads.size() >= 4 || is_over(pid);
  }));
  EXPECT_GE(threads.size(), 4U);
  // perdured moves itself; the thread sanitizer's own thread started earlier.
  const auto elsewhere =
      std::count_if(threads.begin(), threads.end(), [&](const auto& t) { return t.second != first_; });
  EXPECT_EQ(elsewhere, kSanitizerThreads);
  ::kill(pid, SIGTERM);
  int status = -1;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

TEST_F(EngineCpus, ThatTheJobMayNotHaveAreRefusedOnAllRanks) {
  RunOptions two;
  two.ranks = 2;
  const auto outcome = run_ranks(two, [&](const Rank& rank) {
    perdure_t* handle = nullptr;
    char message[1024];
    const std::string options = options_in(directory_.path(), "embedded", "engine.cpus=65535");
    REQUIRE(perdure_open_communicator(&rank.communicator, options.c_str(), &handle, message, sizeof message) ==
            PERDURE_INVALID_ARGUMENT);
    REQUIRE(std::strstr(message, "engine.cpus") != nullptr && std::strstr(message, "65535") != nullptr);
    REQUIRE(handle == nullptr);
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
}

}  // namespace
