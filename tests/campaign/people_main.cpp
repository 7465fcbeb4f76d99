// Carries out drawn user behaviour, and shrinks the descriptions that violate a promise.
//
// perdure_people --runs N --seed S [--at-once K] [--tries N]
// perdure_people --people TEXT | --scenarios FILE | --show SEED
//
// It runs the descriptions of N seeds, from S on, each in its own directory. If one violates a promise, the program
// prints it, shrinks it, and prints it again with the command that repeats it. The last line is
// "N runs, M failed"; the status is 0 only if none failed.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "campaign/people_model.hpp"
#include "campaign/shrinker.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::campaign;

struct Arguments {
  int runs = 20, at_once = 1, tries = 40;
  unsigned seed = 1;
  std::string people, scenarios;
  std::optional<unsigned> show;
};

volatile sig_atomic_t interrupted = 0;

struct Outcome {
  std::string rule;  ///< the first violated rule; empty: none
  std::string said;
};

Outcome run(const People& people) {
  using perdure::test_support::TemporaryDirectory;
  const TemporaryDirectory directory{TemporaryDirectory::Place::memory};
  const auto driver = real_people(directory.path());
  Outcome outcome;
  std::string told;
  for (const auto& violation : carry_out(people, *driver, &told)) {
    if (outcome.rule.empty()) outcome.rule = violation.rule;
    outcome.said += "violated: " + violation.rule + ": " + violation.text + "\n";
  }
  outcome.said += told;
  return outcome;
}

void tell_failure(const People& people, unsigned seed, const Outcome& outcome, const Arguments& arguments,
                  const char* program) {
  std::string last = outcome.said;
  const auto fails = [&](const People& one) {
    if (interrupted != 0) return false;
    const Outcome again = run(one);
    if (again.rule == outcome.rule) last = again.said;
    return again.rule == outcome.rule;
  };
  std::printf("FAILED: seed %u\n%s%s", seed, text_of(people).c_str(), outcome.said.c_str());
  std::fflush(stdout);
  People smallest = people;
  if (arguments.tries > 0 && fails(people))
    smallest = shrink_by(
        people, [](const People& one) { return smaller_ones(one); }, fails, arguments.tries);
  else if (arguments.tries > 0)
    std::printf("it did not fail again: it depends on the moment\n");
  if (smallest != people) std::printf("shrunk:\n%s%s", text_of(smallest).c_str(), last.c_str());
  std::printf("repeat: %s --people '%s'\n", program, text_of(smallest).c_str());
  std::fflush(stdout);
}

/// Runs every K-th description from `first` on; returns how many failed.
int run_some(int first, const Arguments& arguments, const char* program) {
  int failed = 0;
  for (int i = first; i < arguments.runs && interrupted == 0; i += arguments.at_once) {
    const unsigned seed = arguments.seed + static_cast<unsigned>(i);
    const People people = draw_people(seed);
    const Outcome outcome = run(people);
    std::fprintf(stderr, "people: seed %u: %s\n", seed, outcome.rule.empty() ? "good" : "FAILED");
    if (outcome.rule.empty()) continue;
    ++failed;
    tell_failure(people, seed, outcome, arguments, program);
  }
  return failed;
}

int run_all(const Arguments& arguments, const char* program) {
  int failed = 0;
  std::vector<pid_t> workers;
  std::fflush(nullptr);
  for (int i = 0; i < arguments.at_once; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) std::exit(std::min(run_some(i, arguments, program), 200));
    workers.push_back(pid);
  }
  for (const pid_t pid : workers) {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    failed += WIFEXITED(status) ? WEXITSTATUS(status) : arguments.runs;
  }
  if (interrupted != 0) std::printf("interrupted\n");
  std::printf("%d runs, %d failed\n", arguments.runs, failed);
  return failed == 0 && interrupted == 0 ? 0 : 1;
}

int run_text(const std::string& text) {
  const auto people = people_from(text);
  if (!people) {
    std::fprintf(stderr, "perdure_people: %s\n", people.error().text().c_str());
    return 2;
  }
  const Outcome outcome = run(*people);
  std::printf("%s%s1 runs, %d failed\n", text_of(*people).c_str(), outcome.said.c_str(), outcome.rule.empty() ? 0 : 1);
  return outcome.rule.empty() ? 0 : 1;
}

/// Runs the descriptions of a file, which are separated by empty lines; lines that begin with # say why they are kept.
int run_scenarios_of(const std::string& path) {
  std::ifstream file(path);
  int worst = file ? 0 : 2;
  std::string text;
  const auto run_one = [&] {
    if (!text.empty()) worst = std::max(worst, run_text(text));
    text.clear();
  };
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) run_one();
    if (!line.empty() && line[0] != '#') text += line + "\n";
  }
  run_one();
  return worst;
}

std::optional<Arguments> parsed(int count, char** words) {
  Arguments arguments;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string key = words[i];
    const char* const value = words[i + 1];
    if (key == "--runs")
      arguments.runs = std::atoi(value);
    else if (key == "--seed")
      arguments.seed = static_cast<unsigned>(std::atoi(value));
    else if (key == "--at-once")
      arguments.at_once = std::atoi(value);
    else if (key == "--tries")
      arguments.tries = std::atoi(value);
    else if (key == "--people")
      arguments.people = value;
    else if (key == "--scenarios")
      arguments.scenarios = value;
    else if (key == "--show")
      arguments.show = static_cast<unsigned>(std::atoi(value));
    else
      return std::nullopt;
  }
  if (count % 2 == 0 || arguments.runs < 1 || arguments.at_once < 1 || arguments.at_once > 64) return std::nullopt;
  return arguments;
}

}  // namespace

int main(int count, char** words) {
  const auto arguments = parsed(count, words);
  if (!arguments) {
    std::fprintf(stderr,
                 "usage: perdure_people [--runs N] [--seed S] [--at-once K] [--tries N]\n"
                 "                      [--people TEXT] [--scenarios FILE] [--show SEED]\n");
    return 2;
  }
  if (arguments->show) {
    std::printf("%s", text_of(draw_people(*arguments->show)).c_str());
    return 0;
  }
  for (const int end : {SIGINT, SIGTERM, SIGHUP}) ::signal(end, [](int) { interrupted = 1; });
  if (!arguments->scenarios.empty()) return run_scenarios_of(arguments->scenarios);
  return arguments->people.empty() ? run_all(*arguments, words[0]) : run_text(arguments->people);
}
