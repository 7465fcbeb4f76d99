// perdure-process carries out the functions of include/perdure/process.h. It does one thing in a process of its own,
// and gives an answer (process/capi/answer.hpp). Its arguments are "key=value". It begins when its standard input ends.
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "config/effective.hpp"
#include "process/capi/answer.hpp"
#include "process/obstacles.hpp"
#include "process/proc_lists.hpp"
#include "process/process_store.hpp"
#include "process/remote_memory.hpp"

namespace perdure::process {
namespace {

class Asked {
 public:
  Asked(int count, char** words) {
    for (int i = 1; i < count; ++i) {
      const std::string word = words[i];
      const auto equals = word.find('=');
      if (equals != std::string::npos) values_.emplace(word.substr(0, equals), word.substr(equals + 1));
    }
  }
  bool has(const std::string& key) const { return values_.contains(key); }
  std::string text(const std::string& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? "" : found->second;
  }
  std::int64_t number(const std::string& key) const { return std::strtoll(text(key).c_str(), nullptr, 10); }
  std::vector<std::int32_t> numbers(const std::string& key) const {
    std::vector<std::int32_t> all;
    for (auto [at, end] = values_.equal_range(key); at != end; ++at) all.push_back(std::atoi(at->second.c_str()));
    return all;
  }
  const char* options() const {
    const auto found = values_.find("options");
    return found == values_.end() ? nullptr : found->second.c_str();
  }
  pid_t process() const { return static_cast<pid_t>(number("process")); }
  /// True if the caller captures itself: then we are its child, and are not captured.
  bool captures_its_parent() const { return number("caller") == number("process"); }

 private:
  std::multimap<std::string, std::string> values_;
};

constexpr int kMostWait_ms = 10'000;

/// Waits until the caller has permitted us to trace it, and has closed its end of our pipe. That end would be an
/// obstacle. A child that the caller made meanwhile may also hold it; such a child is itself an obstacle, so the wait
/// is limited.
void wait_until_asked() {
  pollfd input{STDIN_FILENO, 0, 0};
  (void)::poll(&input, 1, kMostWait_ms);
}

/// Uses the processors of all threads of the process, which stand still while we copy. We inherit those of the thread
/// that started us, perhaps only one.
void use_processors_of(pid_t process) {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const pid_t thread : threads_of(process)) {
    cpu_set_t one;
    if (::sched_getaffinity(thread, sizeof one, &one) == 0) CPU_OR(&all, &all, &one);
  }
  if (CPU_COUNT(&all) > 0) (void)::sched_setaffinity(0, sizeof all, &all);
}

void put_text(HelperAnswer& answer, const std::string& text) {
  const std::size_t length = std::min(text.size(), answer.text.size() - 1);
  std::memcpy(answer.text.data(), text.data(), length);
  answer.text[length] = '\0';
}

base::Status capture(const Asked& asked, HelperAnswer& answer) {
  const pid_t process = asked.process();
  if (process <= 0) return base::fail(PERDURE_INVALID_ARGUMENT, process_text(process), "no process has this number");
  CaptureChoices choices;
  choices.process.process = process;
  choices.process.left_out = asked.numbers("without");
  choices.process.hash_files = asked.has("hash_files");
  choices.pre_copy = asked.has("pre_copy");
  if (const auto increments = asked.numbers("increments"); !increments.empty()) {
    if (increments.front() < 0 || increments.front() > static_cast<int>(kMostLenders))
      return base::fail(PERDURE_INVALID_ARGUMENT, "increments", "there are 1 to 16 earlier images, or 0");
    choices.increments = static_cast<unsigned>(increments.front());
  }
  if (asked.captures_its_parent()) choices.process.captor = ::getpid();
  const std::string name = asked.text("name");
  PERDURE_TRY(auto store, ProcessStore::open({}, asked.options()));  // the guard is made while we have one thread
  wait_until_asked();
  // A capture that is refused leaves nothing in the store.
  PERDURE_CHECK(look_for_obstacles(process, {choices.process.left_out.begin(), choices.process.left_out.end()},
                                   {choices.process.captor}));
  const auto stop = [&](const CaptureReport& report) -> base::Status {
    PERDURE_CHECK(store.wait_stored(name, report.version));
    if (::kill(process, SIGKILL) == 0) return {};
    return base::fail(base::errno_error(errno, "end it", process_text(process)));
  };
  std::function<base::Status(const CaptureReport&)> then;
  if (asked.has("stop")) then = stop;
  PERDURE_TRY(const auto report, store.capture(choices, name, then));
  if (!then) PERDURE_CHECK(store.wait_stored(name, report.version));
  answer.version = report.version;
  return store.close();
}

base::Status resume(const Asked& asked, HelperAnswer& answer) {
  PERDURE_TRY(const auto config, config::effective_config(asked.options()));
  const std::string mode = asked.has("affinity") ? asked.text("affinity") : config.text("affinity");
  const auto affinity = affinity_mode(mode);
  if (!affinity)
    return base::fail(PERDURE_INVALID_ARGUMENT, "affinity", "there is no mode '" + mode + "'",
                      "choose keep, cores, pages, none or reset");
  ResumeChoices choices;
  choices.affinity.mode = *affinity;
  choices.files.cut_back = asked.has("cut_back_files");
  choices.outlives = true;
  choices.again = asked.has("again");
  choices.of_others = asked.has("of_others");
  choices.numbering = asked.has("name_space") ? Numbering::itself : Numbering::itself_if_needed;
  PERDURE_TRY(auto store, ProcessStore::open({}, asked.options(), false));
  wait_until_asked();
  PERDURE_TRY(const auto report, store.resume(asked.text("name"), asked.number("version"), choices));
  answer.version = report.version;
  answer.process = report.process;
  (void)store.close();  // the process runs whatever happens to the engine
  return {};
}

base::Status tell_obstacles(const Asked& asked, HelperAnswer& answer) {
  const pid_t process = asked.process();
  wait_until_asked();
  std::set<pid_t> inside;
  if (asked.captures_its_parent()) inside.insert(::getpid());
  const auto without = asked.numbers("without");
  PERDURE_TRY(const auto facts, read_facts(process));
  PERDURE_TRY(const auto maps, read_maps(process));
  PERDURE_TRY(auto files, look_at_files(process, {inside}));
  settle(files, {without.begin(), without.end()});
  std::string text;
  for (const Obstacle& one : obstacles(facts, maps, files, inside)) {
    text += one.what + ": " + one.why;
    if (!one.remedy.empty()) text += "; " + one.remedy;
    if (!one.drop.empty()) text += "; it can be left out: " + one.drop;
    text += "\n";
  }
  put_text(answer, text);
  return {};
}

base::Status done(const Asked& asked, HelperAnswer& answer) {
  use_processors_of(static_cast<pid_t>(asked.number("caller")));
  const std::string what = asked.text("do");
  if (what == "capture") return capture(asked, answer);
  if (what == "resume") return resume(asked, answer);
  if (what == "obstacles") return tell_obstacles(asked, answer);
  return base::fail(PERDURE_INVALID_ARGUMENT, "perdure-process", "it is for programs that use perdure/process.h",
                    "see perdure capture and perdure resume");
}

/// Returns false if the caller cannot be told any more.
bool give(const Asked& asked, const HelperAnswer& answer) {
  const auto bytes = bytes_of(answer);
  if (asked.has("answer")) {
    const auto address = std::strtoull(asked.text("answer").c_str(), nullptr, 10);
    return write_memory(static_cast<pid_t>(asked.number("caller")), address, bytes).has_value();
  }
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t more = ::write(STDOUT_FILENO, bytes.data() + written, bytes.size() - written);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) return false;
    written += static_cast<std::size_t>(more);
  }
  return true;
}

}  // namespace
}  // namespace perdure::process

int main(int count, char** words) {
  using namespace perdure;
  // The caller blocked all signals for a moment, and may ignore some.
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGCHLD, SIG_DFL);
  ::signal(SIGPIPE, SIG_IGN);
  const process::Asked asked(count, words);
  process::HelperAnswer answer;
  const base::Status outcome = base::caught("perdure-process", [&] { return process::done(asked, answer); });
  answer.status = outcome ? PERDURE_OK : outcome.error().code;
  if (!outcome) process::put_text(answer, outcome.error().text());
  if (asked.has("caller"))
    (void)process::give(asked, answer);
  else
    std::fprintf(stderr, "%s\n", answer.text.data());
  return answer.status;
}
