// Reads the facts of `perdure inspect` from a running process.
#include "cli/inspected.hpp"
#include "process/fields_of_text.hpp"
#include "process/held_tree.hpp"
#include "process/proc_facts.hpp"
#include "process/proc_text.hpp"

namespace perdure::cli {
namespace {

std::string of_process(pid_t process, const std::string& file) {
  return process::proc_text("/proc/" + std::to_string(process) + "/" + file);
}

std::string state_text(char state) {
  switch (state) {
    case 'R':
      return "runs";
    case 'S':
      return "waits";
    case 'D':
      return "waits for a device";
    case 'T':
      return "is stopped";
    case 't':
      return "is traced";
    default:
      return "has ended";
  }
}

Inspected::ThreadFacts inspect_thread(pid_t process, const process::StatusFacts& status) {
  const std::string directory = "task/" + std::to_string(status.thread) + "/";
  Inspected::ThreadFacts thread;
  thread.number = status.thread;
  thread.name = process::trimmed(of_process(process, directory + "comm"));
  if (thread.name.ends_with('\n')) thread.name.pop_back();
  thread.state = state_text(status.state);
  const std::string text = of_process(process, directory + "status");
  thread.processors = process::trimmed(process::value_of(text, "Cpus_allowed_list").value_or(""));
  return thread;
}

std::string kind_of_map(const process::MemoryMap& map) {
  if (map.name == "[heap]") return "heap";
  if (map.name.starts_with("[stack")) return "stack";
  if (map.name.starts_with("[v")) return "of the kernel";
  if (map.is_file() && map.name.starts_with("/") && !map.name.starts_with("/dev/zero"))
    return map.shared ? "files, shared" : "files";
  return map.shared ? "own, shared" : "own";
}

/// Parses words "N0=17" of numa_maps.
std::map<std::uint32_t, std::uint64_t> pages_of(const std::string& numa_maps) {
  std::map<std::uint32_t, std::uint64_t> pages;
  process::each_line(numa_maps, [&](std::string_view line) {
    for (const auto word : process::words_of(line)) {
      const auto equals = word.find('=');
      std::uint32_t node = 0;
      std::uint64_t count = 0;
      if (word.starts_with('N') && equals != std::string_view::npos &&
          process::number_of(word.substr(1, equals - 1), node) && process::number_of(word.substr(equals + 1), count))
        pages[node] += count;
    }
    return true;
  });
  return pages;
}

std::string arguments_text(const std::vector<std::string>& arguments) {
  std::string text;
  for (const auto& one : arguments) text += (text.empty() ? "" : " ") + one;
  return text;
}

}  // namespace

base::Result<Inspected> inspect_process(pid_t process) {
  PERDURE_TRY(const auto facts, process::read_facts(process));
  PERDURE_TRY(const auto maps, process::read_maps(process));
  PERDURE_TRY(auto files, process::look_at_files(process));
  process::settle(files, {});
  Inspected inspected;
  inspected.process = process;
  inspected.obstacles = process::obstacles(facts, maps, files);
  for (const auto& thread : facts.threads) inspected.threads.push_back(inspect_thread(process, thread.status));
  for (const auto& map : maps) {
    auto& memory = inspected.memory[kind_of_map(map)];
    ++memory.mappings;
    memory.bytes += map.bytes();
  }
  inspected.pages = pages_of(of_process(process, "numa_maps"));
  for (const auto& file : files.files) inspected.files.push_back({file.numbers, file.link});
  const std::uint32_t user = facts.threads.empty() ? 0 : facts.threads.front().status.users[1];
  inspected.facts = {{"arguments", arguments_text(process::split_at_zeros(of_process(process, "cmdline")))},
                     {"user", std::to_string(user)}};
  std::string others;
  for (const pid_t one : process::list_tree(process))
    if (one != process) others += (others.empty() ? "" : ", ") + std::to_string(one);
  if (!others.empty()) inspected.facts.emplace_back("descendants", others);
  inspected.machine = process::machine_here();
  return inspected;
}

}  // namespace perdure::cli
