#include "process/obstacles.hpp"

#include <sched.h>
#include <sys/personality.h>

#include <algorithm>
#include <array>

namespace perdure::process {
namespace {

std::string list_of(const std::vector<pid_t>& processes) {
  constexpr std::size_t kMostNamed = 8;
  std::string all;
  for (std::size_t i = 0; i < std::min(processes.size(), kMostNamed); ++i)
    all += (i == 0 ? "" : ", ") + std::to_string(processes[i]);
  return processes.size() > kMostNamed ? all + " and others" : all;
}

void add_namespaces(const ProcessFacts& facts, std::vector<Obstacle>& all) {
  for (const auto& [kind, name] : facts.namespaces) {
    const auto here = facts.namespaces_here.find(kind);
    // The time name space does not matter: the image has the values of its clocks (clocks.hpp).
    const bool matters = kind != "cgroup" && kind != "time" && here != facts.namespaces_here.end() && !name.empty();
    if (matters && here->second != name)
      all.push_back({"its " + kind + " name space is another one than that of this program",
                     "numbers and names would mean something else where it is resumed",
                     "capture it from inside of its container", ""});
  }
}

void add_credentials(const ProcessFacts& facts, std::vector<Obstacle>& all) {
  const auto changes = [](const std::array<std::uint32_t, 4>& ids) {
    return std::any_of(ids.begin(), ids.end(), [&](std::uint32_t id) { return id != ids[0]; });
  };
  const auto& first = facts.threads.front().status;
  const bool differ = std::any_of(facts.threads.begin(), facts.threads.end(), [&](const ThreadFacts& one) {
    return one.status.users != first.users || one.status.groups != first.groups;
  });
  if (changes(first.users) || changes(first.groups))
    all.push_back({"it is setuid: its real and effective users or groups differ",
                   "whoever resumes it could get rights that are not theirs", "start it as the user that it is to be",
                   ""});
  const bool may_differ = std::any_of(facts.threads.begin(), facts.threads.end(), [&](const ThreadFacts& one) {
    const bool ended = one.status.state == 'Z' || one.status.state == 'X';
    return !ended && one.status.capabilities != first.capabilities;
  });
  if (may_differ)
    all.push_back({"its threads have different capabilities", "they are brought back with those of the first", "", ""});
  if (differ) all.push_back({"its threads have different users or groups", "they are brought back with one", "", ""});
}

void add_threads(const ProcessFacts& facts, std::vector<Obstacle>& all) {
  const auto any = [&](auto is) { return std::any_of(facts.threads.begin(), facts.threads.end(), is); };
  const auto& first = facts.threads.front().status;
  if (first.state == 'Z' || first.state == 'X')
    all.push_back({"its first thread has ended", "the kernel shows its descriptors by that thread only", "", ""});
  if (any([](const ThreadFacts& one) { return !one.shares_descriptors; }))
    all.push_back(
        {"a thread has descriptors of its own (unshare)", "those of the first thread only are captured", "", ""});
  if (any([](const ThreadFacts& one) { return !one.shares_directories; }))
    all.push_back(
        {"a thread has a working directory of its own (unshare)", "that of the first thread only is captured", "", ""});
  if (any([](const ThreadFacts& one) { return one.status.seccomp != 0; }))
    all.push_back({"it has seccomp filters", "they would forbid the calls that bring it back, and are not kept",
                   "start it without its sandbox", ""});
  constexpr int kDeadline = 6;  // SCHED_DEADLINE, from the kernel's headers
  if (any([](const ThreadFacts& one) { return (one.policy & ~SCHED_RESET_ON_FORK) == kDeadline; }))
    all.push_back({"a thread is scheduled by deadlines (SCHED_DEADLINE)", "its times are not captured",
                   "chrt --other --pid 0 THREAD", ""});
  if (any([](const ThreadFacts& one) { return one.core_cookie != 0; }))
    all.push_back({"it shares cores with chosen processes only (PR_SCHED_CORE)", "with which ones is not kept",
                   "start it without core scheduling", ""});
  if (any([](const ThreadFacts& one) { return one.status.has_shadow_stack; }))
    all.push_back({"it has a shadow stack (CET)", "its return addresses there are not brought back",
                   "start it with GLIBC_TUNABLES=glibc.cpu.x86_shstk=off", ""});
  if (any([](const ThreadFacts& one) { return one.status.tags_addresses; }))
    all.push_back({"it has tags in addresses (LAM)", "the new process would not know of them", "start it without", ""});
  const auto traced = std::find_if(facts.threads.begin(), facts.threads.end(),
                                   [](const ThreadFacts& one) { return one.status.tracer != 0; });
  if (traced != facts.threads.end())
    all.push_back({"process " + std::to_string(traced->status.tracer) + " traces it",
                   "a process has one tracer at a time", "end that one: a debugger, strace, or another capture", ""});
}

void add_relatives(const ProcessFacts& facts, const std::set<pid_t>& inside, std::vector<Obstacle>& all) {
  std::vector<pid_t> children;
  for (const pid_t child : facts.children) {
    const bool shares = std::find(facts.sharing.begin(), facts.sharing.end(), child) != facts.sharing.end();
    if (!inside.contains(child) && !shares) children.push_back(child);
  }
  if (!children.empty())
    all.push_back({"it has children that are not captured: " + list_of(children), "it would wait for them in vain",
                   "let them end, or capture them with it (--tree)", ""});
  if (!facts.sharing.empty())
    all.push_back({"other processes have its memory, descriptors or signal handlers: " + list_of(facts.sharing),
                   "it is in vfork, or made them by clone", "try again when they have ended", ""});
}

}  // namespace

std::vector<Obstacle> obstacles_of_facts(const ProcessFacts& facts, const std::set<pid_t>& inside) {
  std::vector<Obstacle> all;
  if (facts.threads.empty()) return {{"it has ended", "nothing is left of it", "", ""}};
  if (!facts.is_64_bits) all.push_back({"it is a program of 32 bits", "only those of 64 bits are captured", "", ""});
  if (facts.root != "/" && !facts.root.empty())
    all.push_back({"its root directory is '" + facts.root + "'", "names of files would mean others",
                   "capture it from inside of it", ""});
  if ((facts.personality & PER_MASK) != PER_LINUX)
    all.push_back({"it has the personality of another system", "it is not brought back", "", ""});
  add_credentials(facts, all);
  add_threads(facts, all);
  if (facts.may_undo_semaphores)
    all.push_back({"it may have changed System V semaphores that its end changes back (SEM_UNDO)",
                   "another process could get in when it ends, and it would not know when it is brought back",
                   "capture it when it holds none, or remove those that nobody needs (ipcs -s, ipcrm)", ""});
  add_namespaces(facts, all);
  add_relatives(facts, inside, all);
  return all;
}

std::vector<Obstacle> obstacles_of_state(const LostState& state) {
  std::vector<Obstacle> all;
  if (state.protection_keys != 0)
    all.push_back({"it has keys that protect memory (pkey_alloc)", "the memory behind them would be open to all of it",
                   "start it without", ""});
  if (!state.confined.empty())
    all.push_back({"it is confined: thread " + list_of(state.confined) +
                       " may not look at a process of its own user (Landlock, or another security module)",
                   "it would come back with more rights than it has", "start it without its sandbox", ""});
  return all;
}

std::vector<Obstacle> obstacles(const ProcessFacts& facts, const std::vector<MemoryMap>& maps, const SeenFiles& files,
                                const std::set<pid_t>& inside) {
  const char state = facts.threads.empty() ? 'X' : facts.threads.front().status.state;
  if (maps.empty() && state != 'Z' && state != 'X')
    return {{"it has no memory: it is a thread of the kernel, or about to end", "there is nothing to capture", "", ""}};
  auto all = obstacles_of_facts(facts, inside);
  for (auto& one : obstacles_of_maps(maps, files)) all.push_back(std::move(one));
  for (auto& one : obstacles_of_files(files)) all.push_back(std::move(one));
  return all;
}

base::Status refused(pid_t process, const std::vector<Obstacle>& obstacles, const char* what) {
  if (obstacles.empty()) return {};
  std::string cause = std::string("it cannot be ") + what + ":", remedy;
  constexpr std::size_t kMostNamed = 12;
  for (std::size_t i = 0; i < std::min(obstacles.size(), kMostNamed); ++i) {
    const Obstacle& one = obstacles[i];
    cause += (i == 0 ? " " : "; ") + one.what + " (" + one.why + ")";
    std::string advice = one.remedy;
    if (!one.drop.empty()) advice += (advice.empty() ? "" : ", or ") + ("--force-without " + one.drop);
    if (!advice.empty() && remedy.find(advice) == std::string::npos) remedy += (remedy.empty() ? "" : "; ") + advice;
  }
  if (obstacles.size() > kMostNamed) cause += "; and " + std::to_string(obstacles.size() - kMostNamed) + " more";
  return base::fail(PERDURE_UNSUPPORTED, "process " + std::to_string(process), cause, remedy);
}

}  // namespace perdure::process
