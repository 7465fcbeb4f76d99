// Runs drawn scenarios against Perdure, and shrinks those that violate a promise.
//
// perdure_campaign [--elastic] --runs N --seed S [--at-once K] [--limit SECONDS] [--tries N]
//                  [--lie older|flipped|not-found|element]
// perdure_campaign --scenario TEXT
// perdure_campaign [--elastic] --show SEED
//
// --elastic draws jobs whose arrays move to other numbers of ranks, with one failure at most.
// Runs the scenarios of N seeds, from S on, each in its own process and directory. If one violates a promise, the
// program prints it, shrinks it, and prints it again with the command that repeats it. The last line is "N runs, M
// failed"; the status is 0 only if none failed.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "campaign/driver.hpp"
#include "campaign/generator.hpp"
#include "campaign/shrinker.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::campaign;
using Clock = std::chrono::steady_clock;

struct Arguments {
  int runs = 20, at_once = 1, tries = 60;
  unsigned seed = 1;
  double limit_s = 240;
  std::string lie, scenario;
  std::string scenarios;  ///< a file of scenarios
  std::optional<unsigned> show;
  bool elastic = false;  ///< arrays on other numbers of ranks, with one failure at most
  Scenario drawn(unsigned of_seed) const { return elastic ? draw_elastic(of_seed) : draw_scenario(of_seed); }
};

volatile sig_atomic_t interrupted = 0;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Runs one scenario in a process that leads its own process group; the destructor ends all that it started.
class Run {
 public:
  Run(Scenario scenario, unsigned seed, const Arguments& arguments);
  ~Run() { end(); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  /// Reads its output. Returns true once it has ended, by itself or at its time limit.
  bool is_over();
  bool failed() const { return failed_; }
  /// The violated rule, and then the whole report.
  std::string rule() const { return said_.substr(0, said_.find('\n')); }
  const std::string& said() const { return said_; }
  const Scenario& scenario() const { return scenario_; }
  unsigned seed() const { return seed_; }
  double took_s() const { return took_s_; }

 private:
  [[noreturn]] void carry_out_here(int out, const std::string& lie) const;
  void end();

  Scenario scenario_;
  unsigned seed_;
  double limit_s_, took_s_ = 0;
  perdure::test_support::TemporaryDirectory directory_{perdure::test_support::TemporaryDirectory::Place::memory};
  Clock::time_point begin_ = Clock::now();
  int pid_ = -1, from_ = -1;
  bool failed_ = false;
  std::string said_;
};

Run::Run(Scenario scenario, unsigned seed, const Arguments& arguments)
    : scenario_(std::move(scenario)), seed_(seed), limit_s_(arguments.limit_s) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
  std::fflush(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) carry_out_here(ends[1], arguments.lie);
  ::setpgid(pid_, pid_);
  ::close(ends[1]);
  from_ = ends[0];
}

void Run::carry_out_here(int out, const std::string& lie) const {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::string told;
  const Lie told_lie = lie_from(lie);
  const auto driver =
      lying_driver(real_driver(directory_.path(), told_lie), told_lie == Lie::element ? Lie::none : told_lie);
  const auto violations = carry_out(scenario_, *driver, &told);
  std::string all = violations.empty() ? "" : violations[0].rule + "\n";
  for (const auto& violation : violations) all += "violated: " + violation.rule + ": " + violation.text + "\n";
  all += told;
  for (std::size_t at = 0; at < all.size();) {
    const auto wrote = ::write(out, all.data() + at, all.size() - at);
    if (wrote <= 0) break;
    at += static_cast<std::size_t>(wrote);
  }
  ::_exit(violations.empty() ? 0 : 1);
}

bool Run::is_over() {
  pollfd ready{from_, POLLIN, 0};
  char block[4096];
  while (::poll(&ready, 1, 0) > 0) {
    const auto got = ::read(from_, block, sizeof block);
    if (got <= 0) break;
    said_.append(block, static_cast<std::size_t>(got));
  }
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) == pid_) {
    for (ssize_t got = 0; (got = ::read(from_, block, sizeof block)) > 0;)
      said_.append(block, static_cast<std::size_t>(got));
    pid_ = -1;
    failed_ = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    if (failed_ && said_.empty()) said_ = "the run itself died\n";
  } else if (seconds_since(begin_) > limit_s_) {
    failed_ = true;
    said_ = "nobody waits for ever\nthe run was ended at its time limit\n" + said_;
  } else {
    return false;
  }
  end();
  return true;
}

void Run::end() {
  took_s_ = took_s_ > 0 ? took_s_ : seconds_since(begin_);
  if (pid_ > 0) {
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  if (from_ >= 0) ::close(from_);
  from_ = -1;
  end_everything_in(directory_.path());
}

/// Runs the scenario to its end, alone.
std::unique_ptr<Run> run_alone(const Scenario& scenario, unsigned seed, const Arguments& arguments) {
  auto run = std::make_unique<Run>(scenario, seed, arguments);
  while (interrupted == 0 && !run->is_over()) ::usleep(5000);  // wait: a run has its own limit
  return run;
}

std::string command_of(const Scenario& scenario, const Arguments& arguments, const char* program) {
  return std::string(program) + (arguments.lie.empty() ? "" : " --lie " + arguments.lie) + " --scenario '" +
         text_of(scenario) + "'";
}

/// Prints the failure, the smallest scenario that fails in the same way, and the command that repeats it.
void tell_failure(const Run& run, const Arguments& arguments, const char* program) {
  std::printf("FAILED: seed %u\n%s%s", run.seed(), text_of(run.scenario()).c_str(), run.said().c_str());
  std::printf("making it smaller, at most %d tries\n", arguments.tries);
  std::fflush(stdout);
  int tried = 0;
  std::string said = run.said();
  const auto fails = [&](const Scenario& scenario) {
    if (interrupted != 0) return false;
    const auto again = run_alone(scenario, run.seed(), arguments);
    std::fprintf(stderr, "\rcampaign: seed %u: try %d ", run.seed(), ++tried);
    const bool same = again->failed() && again->rule() == run.rule();
    if (same) said = again->said();
    return same;
  };
  Scenario smallest = run.scenario();
  const bool repeats = arguments.tries > 0 && (fails(smallest) || fails(smallest) || fails(smallest));
  // A single failure may be chance, so the reported scenario must fail twice.
  if (repeats)
    smallest = shrink(
        smallest, [&](const Scenario& one) { return fails(one) && fails(one); }, arguments.tries);
  std::fprintf(stderr, "\n");
  if (repeats)
    std::printf("shrunk:\n%s%s", text_of(smallest).c_str(), said.c_str());
  else
    std::printf("it did not fail again in three tries: it depends on the moment\n");
  std::printf("repeat: %s\n", command_of(smallest, arguments, program).c_str());
  std::fflush(stdout);
}

int run_campaign(const Arguments& arguments, const char* program) {
  std::vector<std::unique_ptr<Run>> running;
  int begun = 0, over = 0, failed = 0;
  const auto begin = Clock::now();
  while ((begun < arguments.runs || !running.empty()) && interrupted == 0) {
    if (begun < arguments.runs && static_cast<int>(running.size()) < arguments.at_once) {
      const unsigned seed = arguments.seed + static_cast<unsigned>(begun++);
      running.push_back(std::make_unique<Run>(arguments.drawn(seed), seed, arguments));
    }
    ::usleep(5000);  // wait: runs have their own limits
    for (auto& run : running) {
      if (!run->is_over()) continue;
      ++over;
      if (run->failed()) ++failed;
      std::fprintf(stderr, "campaign: %d of %d runs, %d failed, %.0f s (seed %u: %s, %.1f s)\n", over, arguments.runs,
                   failed, seconds_since(begin), run->seed(), run->failed() ? "FAILED" : "good", run->took_s());
      if (run->failed()) tell_failure(*run, arguments, program);
      run.reset();
    }
    std::erase(running, nullptr);
  }
  running.clear();
  if (interrupted != 0) std::printf("interrupted\n");
  std::printf("%d runs, %d failed\n", over, failed);
  return failed == 0 && over == arguments.runs ? 0 : 1;
}

int run_scenario(const Arguments& arguments) {
  const auto scenario = scenario_from(arguments.scenario);
  if (!scenario) {
    std::fprintf(stderr, "perdure_campaign: %s\n", scenario.error().text().c_str());
    return 2;
  }
  const auto run = run_alone(*scenario, 0, arguments);
  std::printf("%s%s1 runs, %d failed\n", text_of(*scenario).c_str(), run->said().c_str(), run->failed() ? 1 : 0);
  return run->failed() ? 1 : 0;
}

/// Runs the scenarios of a file, which are separated by empty lines; lines that begin with # say why they are kept.
int run_scenarios_of(const std::string& path, Arguments arguments) {
  std::ifstream file(path);
  if (!file) {
    std::fprintf(stderr, "perdure_campaign: %s: it cannot be read\n", path.c_str());
    return 2;
  }
  int worst = 0;
  const auto run = [&] {
    if (!arguments.scenario.empty()) worst = std::max(worst, run_scenario(arguments));
    arguments.scenario.clear();
  };
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) run();
    if (!line.empty() && line[0] != '#') arguments.scenario += line + "\n";
  }
  run();
  return worst;
}

std::optional<Arguments> parsed(int count, char** words) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string key = words[i];
    arguments.elastic = arguments.elastic || key == "--elastic";
    if (key == "--elastic") continue;
    if (++i >= count) return std::nullopt;
    const char* value = words[i];
    if (key == "--runs")
      arguments.runs = std::atoi(value);
    else if (key == "--seed")
      arguments.seed = static_cast<unsigned>(std::atoi(value));
    else if (key == "--at-once")
      arguments.at_once = std::atoi(value);
    else if (key == "--limit")
      arguments.limit_s = std::atof(value);
    else if (key == "--tries")
      arguments.tries = std::atoi(value);
    else if (key == "--lie")
      arguments.lie = value;
    else if (key == "--scenario")
      arguments.scenario = value;
    else if (key == "--scenarios")
      arguments.scenarios = value;
    else if (key == "--show")
      arguments.show = static_cast<unsigned>(std::atoi(value));
    else
      return std::nullopt;
  }
  if (arguments.runs < 1 || arguments.at_once < 1 || arguments.limit_s <= 0) return std::nullopt;
  if (!arguments.lie.empty() && lie_from(arguments.lie) == Lie::none) return std::nullopt;
  return arguments;
}

}  // namespace

int main(int count, char** words) {
  const auto arguments = parsed(count, words);
  if (!arguments) {
    std::fprintf(
        stderr,
        "usage: perdure_campaign [--elastic] [--runs N] [--seed S] [--at-once K] [--limit SECONDS] [--tries N]\n"
        "                        [--lie older|flipped|not-found|element] [--scenario TEXT] [--scenarios FILE]\n"
        "                        [--show SEED]\n");
    return 2;
  }
  if (arguments->show) {
    std::printf("%s", text_of(arguments->drawn(*arguments->show)).c_str());
    return 0;
  }
  for (const int end : {SIGINT, SIGTERM, SIGHUP}) ::signal(end, [](int) { interrupted = 1; });
  if (!arguments->scenarios.empty()) return run_scenarios_of(arguments->scenarios, *arguments);
  return arguments->scenario.empty() ? run_campaign(*arguments, words[0]) : run_scenario(*arguments);
}
