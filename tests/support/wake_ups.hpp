#pragma once
// How often threads of this process wake up, as the kernel counts it.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

namespace perdure::test_support {

/// All of this process, by number.
inline std::set<int> threads() {
  std::set<int> all;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    all.insert(std::stoi(task.path().filename()));
  return all;
}

/// What a line of /proc/self/task/N/status says; empty when the thread has ended.
inline std::string thread_status(int thread, const std::string& key) {
  std::ifstream status("/proc/self/task/" + std::to_string(thread) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(key + ":")) return line.substr(line.find_first_not_of(" \t", key.size() + 1));
  return {};
}

/// How often each of the threads that run now, but for `others`, has gone to sleep since it began. Whoever wakes up and
/// sleeps again has done so once more.
inline std::map<int, std::uint64_t> sleeps(const std::set<int>& others) {
  std::map<int, std::uint64_t> times;
  for (const int thread : threads())
    if (!others.contains(thread)) times[thread] = std::stoull("0" + thread_status(thread, "voluntary_ctxt_switches"));
  return times;
}

}  // namespace perdure::test_support
