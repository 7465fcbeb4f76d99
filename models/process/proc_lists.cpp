#include "process/proc_lists.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "process/fields_of_text.hpp"
#include "process/proc_facts.hpp"
#include "process/proc_text.hpp"

namespace perdure::process {
namespace {

std::string path_of(pid_t process, const std::string& file) { return "/proc/" + std::to_string(process) + "/" + file; }

}  // namespace

std::vector<pid_t> threads_of(pid_t process) {
  std::vector<pid_t> threads;
  std::error_code error;
  for (std::filesystem::directory_iterator at(path_of(process, "task"), error), end; !error && at != end;
       at.increment(error))
    threads.push_back(static_cast<pid_t>(std::atoi(at->path().filename().c_str())));
  std::sort(threads.begin(), threads.end());
  return threads;
}

std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  for (const pid_t thread : threads_of(process)) {
    const std::string text = proc_text(path_of(process, "task/" + std::to_string(thread) + "/children"));
    for (const auto word : words_of(text))
      if (pid_t child = 0; number_of(word, child)) children.push_back(child);
  }
  std::sort(children.begin(), children.end());
  return children;
}

std::vector<pid_t> list_tree(pid_t root) {
  std::vector<pid_t> all = {root};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const pid_t child : children_of(all[i]))
      if (std::find(all.begin(), all.end(), child) == all.end()) all.push_back(child);
  return all;
}

// The letter follows the name, which may contain any character.
char state_of(pid_t thread) {
  const std::string text = proc_text(path_of(thread, "stat"));
  const auto end = text.rfind(')');
  return end == std::string::npos || end + 2 >= text.size() ? 'X' : text[end + 2];
}

bool has_ended(pid_t thread) {
  const char state = state_of(thread);
  return state == 'Z' || state == 'X' || state == 'x';
}

bool has_process_ended(pid_t process) {
  const auto threads = threads_of(process);
  return std::all_of(threads.begin(), threads.end(), has_ended);
}

bool is_thread_ending(pid_t process, pid_t thread) {
  constexpr std::uint64_t kExiting = 0x4;  // PF_EXITING, from the kernel's sources; a flag in proc(5)
  const std::string path = path_of(process, "task/" + std::to_string(thread) + "/stat");
  const std::string text = proc_text(path);
  if (text.empty())
    return ::access(path.c_str(), F_OK) != 0;  // otherwise it could not be opened for lack of descriptors
  return (StatNumbers(text).value(9) & kExiting) != 0;
}

bool is_process_ending(pid_t process) {
  const auto threads = threads_of(process);
  return std::all_of(threads.begin(), threads.end(), [&](pid_t thread) { return is_thread_ending(process, thread); });
}

base::Result<std::vector<MemoryMap>> read_maps(pid_t process) {
  constexpr int kMostTries = 100;
  for (int tries = 1;; ++tries) {
    auto maps = parse_maps(proc_text(path_of(process, "maps")), "process " + std::to_string(process));
    if (maps && maps->empty() && is_process_ending(process))
      return base::fail(PERDURE_NOT_FOUND, "process " + std::to_string(process), "it has ended");
    if (maps || tries == kMostTries) return maps;
  }
}

}  // namespace perdure::process
