#include "process/facts.hpp"

#include <elf.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "process/fields_of_text.hpp"
#include "process/proc_lists.hpp"
#include "process/proc_text.hpp"
#include "process/semaphores.hpp"

namespace perdure::process {
namespace {

constexpr std::array kNamespaces = {"cgroup", "ipc", "mnt", "net", "pid", "pid_for_children", "time", "user", "uts"};

std::string directory_of(pid_t process) { return "/proc/" + std::to_string(process); }

base::Status gone(pid_t process) {
  return base::fail(PERDURE_NOT_FOUND, "process " + std::to_string(process),
                    "there is no such process, or it has ended");
}

template <class Number>
bool line_of(std::string_view text, std::string_view key, Number& number, int base = 10) {
  const auto value = value_of(text, key);
  return value && number_of(*value, number, base);
}

bool four_of(std::string_view text, std::string_view key, std::array<std::uint32_t, 4>& numbers) {
  const auto value = value_of(text, key);
  const auto words = value ? words_of(*value) : std::vector<std::string_view>();
  if (words.size() != numbers.size()) return false;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (!number_of(words[i], numbers[i])) return false;
  return true;
}

std::vector<pid_t> numbers_in(const std::string& directory) {
  std::vector<pid_t> numbers;
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    pid_t number = 0;
    if (number_of(at->path().filename().native(), number)) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string link_at(const std::string& path) {
  std::error_code error;
  return std::filesystem::read_symlink(path, error).string();
}

Namespaces namespaces_of(const std::string& directory) {
  Namespaces all;
  for (const std::string kind : kNamespaces) all[kind] = link_at(directory + "/ns/" + kind);
  return all;
}

bool is_64_bits(const std::string& directory) {
  std::array<char, EI_NIDENT> begin{};
  std::ifstream program(directory + "/exe", std::ios::binary);
  return !program.read(begin.data(), begin.size()) || begin[EI_CLASS] == ELFCLASS64;
}

std::uint64_t core_cookie_of(pid_t thread) {
  constexpr int kCores = 62, kGet = 0, kOfThread = 0;  // PR_SCHED_CORE; without support there is no cookie
  std::uint64_t cookie = 0;
  return ::prctl(kCores, kGet, thread, kOfThread, &cookie) == 0 ? cookie : 0;
}

base::Result<ThreadFacts> thread_facts(pid_t process, pid_t thread) {
  const std::string text = proc_text(directory_of(process) + "/task/" + std::to_string(thread) + "/status");
  if (text.empty()) return base::fail(gone(process).error());
  const auto status = parse_status(text);
  if (!status)
    return base::fail(PERDURE_UNSUPPORTED, "thread " + std::to_string(thread), "its status is not understood");
  ThreadFacts facts;
  facts.status = *status;
  facts.policy = std::max(::sched_getscheduler(thread), 0);  // negative if it has ended
  facts.core_cookie = core_cookie_of(thread);
  return facts;
}

bool lives(const ThreadFacts& facts) { return facts.status.state != 'Z' && facts.status.state != 'X'; }

bool is_ending(const ThreadFacts& facts) {
  return !lives(facts) || is_thread_ending(facts.status.process, facts.status.thread);
}

/// `reference` must be a living thread: one that is ending shares nothing any more.
void compare_threads(std::vector<ThreadFacts>& threads, pid_t reference) {
  for (auto& one : threads) {
    const auto differs = [&](Shared what) {
      const auto order = compare(what, reference, one.status.thread);
      return (order == Order::less || order == Order::greater) && !is_ending(one);
    };
    one.shares_descriptors = !differs(Shared::descriptors);
    one.shares_directories = !differs(Shared::directories);
  }
}

/// Processes made by clone share these for as long as they live, and may have any parent by now. So it asks about all
/// processes of the machine.
std::vector<pid_t> sharing_with(pid_t process, pid_t reference) {
  std::vector<pid_t> all;
  for (const pid_t other : numbers_in("/proc")) {
    if (other == process) continue;
    const auto shares = [&](Shared what) { return compare(what, reference, other) == Order::same; };
    if (shares(Shared::memory) || shares(Shared::descriptors) || shares(Shared::handlers)) all.push_back(other);
  }
  return all;
}

}  // namespace

std::optional<StatusFacts> parse_status(std::string_view text) {
  StatusFacts facts;
  unsigned no_new_privileges = 0;
  const auto state = value_of(text, "State");
  if (!state || state->empty()) return std::nullopt;
  facts.state = state->front();
  const bool understood = line_of(text, "Tgid", facts.process) && line_of(text, "Pid", facts.thread) &&
                          line_of(text, "PPid", facts.parent) && line_of(text, "TracerPid", facts.tracer) &&
                          four_of(text, "Uid", facts.users) && four_of(text, "Gid", facts.groups) &&
                          line_of(text, "CapEff", facts.capabilities, 16);
  if (!understood) return std::nullopt;
  line_of(text, "Seccomp", facts.seccomp);  // a kernel without seccomp has none
  line_of(text, "NoNewPrivs", no_new_privileges);
  facts.no_new_privileges = no_new_privileges != 0;
  const auto features = words_of(value_of(text, "x86_Thread_features").value_or(""));
  facts.has_shadow_stack = std::find(features.begin(), features.end(), "shstk") != features.end();
  std::uint64_t untagged = ~std::uint64_t{0};
  constexpr std::string_view kHexadecimal = "0x";
  if (auto mask = value_of(text, "untag_mask"); mask && mask->starts_with(kHexadecimal))
    (void)number_of(mask->substr(kHexadecimal.size()), untagged, 16);
  facts.tags_addresses = untagged != ~std::uint64_t{0};
  return facts;
}

namespace {

/// Returns nothing if the thread used as the reference for all ended meanwhile.
std::optional<base::Result<ProcessFacts>> read_facts_once(pid_t process) {
  ProcessFacts facts;
  facts.process = process;
  for (const pid_t thread : threads_of(process)) {
    auto one = thread_facts(process, thread);
    if (one) facts.threads.push_back(std::move(*one));
    if (!one && one.error().code != PERDURE_NOT_FOUND) return base::fail(one.error());
  }
  if (facts.threads.empty()) return base::fail(gone(process).error());
  if (const pid_t whole = facts.threads.front().status.process; whole != process)
    return base::fail(PERDURE_INVALID_ARGUMENT, "process " + std::to_string(process),
                      "it is a thread of process " + std::to_string(whole), "name that process: all of it is captured");
  std::stable_partition(facts.threads.begin(), facts.threads.end(),
                        [&](const ThreadFacts& one) { return one.status.thread == process; });
  const auto living = std::find_if_not(facts.threads.begin(), facts.threads.end(), is_ending);
  if (living == facts.threads.end()) return base::fail(gone(process).error());
  const pid_t reference = living->status.thread;
  compare_threads(facts.threads, reference);
  const std::string directory = directory_of(process) + "/task/" + std::to_string(reference);
  facts.root = link_at(directory + "/root");
  facts.namespaces = namespaces_of(directory);
  facts.sharing = sharing_with(process, reference);
  if (is_thread_ending(process, reference)) return std::nullopt;
  if (facts.root.empty())
    return base::fail(PERDURE_PERMISSION, "process " + std::to_string(process), "it may not be looked at",
                      "be the same user, or have CAP_SYS_PTRACE");
  const std::string personality = proc_text(directory + "/personality");
  number_of(trimmed(std::string_view(personality).substr(0, personality.find('\n'))), facts.personality, 16);
  facts.is_64_bits = is_64_bits(directory);
  facts.namespaces_here = namespaces_of("/proc/self");
  facts.children = children_of(process);
  facts.may_undo_semaphores = may_undo_semaphores(process);
  return facts;
}

}  // namespace

base::Result<ProcessFacts> read_facts(pid_t process) {
  constexpr int kTries = 12;
  for (int tries = 0; tries < kTries; ++tries)
    if (auto facts = read_facts_once(process)) return std::move(*facts);
  return base::fail(PERDURE_UNSUPPORTED, "process " + std::to_string(process),
                    "its threads end while they are looked at", "try again");
}

base::Result<ProcessFacts> read_facts_again(pid_t process) {
  ProcessFacts facts;
  facts.process = process;
  PERDURE_TRY(auto first, thread_facts(process, process));
  first.status.tracer = 0;
  facts.threads.push_back(std::move(first));
  facts.children = children_of(process);
  facts.root = link_at(directory_of(process) + "/root");
  facts.may_undo_semaphores = may_undo_semaphores(process);
  return facts;
}

}  // namespace perdure::process
