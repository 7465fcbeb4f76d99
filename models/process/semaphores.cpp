#include "process/semaphores.hpp"

#include <linux/capability.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "process/bystander.hpp"
#include "process/fields_of_text.hpp"
#include "process/kernel_ids.hpp"
#include "process/proc_facts.hpp"
#include "process/proc_text.hpp"

namespace perdure::process {

std::vector<SemaphoreSet> parse_semaphores(std::string_view text) {
  std::vector<SemaphoreSet> sets;
  each_line(text, [&](std::string_view line) {
    const auto words = words_of(line);  // key semid perms nsems uid gid cuid cgid otime ctime
    SemaphoreSet set;
    std::uint64_t used_at = 0;
    constexpr std::size_t kWords = 10;
    if (words.size() < kWords || !number_of(words[1], set.id) || !number_of(words[2], set.permissions, 8) ||
        !number_of(words[4], set.user) || !number_of(words[5], set.group) || !number_of(words[6], set.maker) ||
        !number_of(words[7], set.makers_group) || !number_of(words[8], used_at))
      return true;
    set.used = used_at != 0;
    sets.push_back(set);
    return true;
  });
  return sets;
}

bool may_have_changed(const SemaphoreSet& set, std::string_view status) {
  if (!set.used) return false;
  const auto user = static_cast<std::uint32_t>(first_number(status, "Uid"));
  const auto capabilities = first_number(status, "CapEff", 16);
  if (user == 0 || (capabilities >> CAP_IPC_OWNER & 1) != 0) return true;
  if (user == set.user || user == set.maker) return (set.permissions & 0200) != 0;
  std::vector<std::uint32_t> groups = {static_cast<std::uint32_t>(first_number(status, "Gid"))};
  for (const auto word : words_of(value_of(status, "Groups").value_or("")))
    if (std::uint32_t group = 0; number_of(word, group)) groups.push_back(group);
  const bool of_group = std::any_of(groups.begin(), groups.end(), [&](std::uint32_t group) {
    return group == set.group || group == set.makers_group;
  });
  return (set.permissions & (of_group ? 020U : 02U)) != 0;
}

bool may_undo_semaphores(pid_t process) {
  const auto sets = parse_semaphores(proc_text("/proc/sysvipc/sem"));
  if (sets.empty()) return false;
  const std::string status = proc_text("/proc/" + std::to_string(process) + "/status");
  if (std::none_of(sets.begin(), sets.end(), [&](const SemaphoreSet& one) { return may_have_changed(one, status); }))
    return false;
  const auto none = Bystander::start(::geteuid(), ::getegid());  // a process without an undo list
  return !none || compare(Shared::semaphores, process, none->process()) != Order::same;
}

}  // namespace perdure::process
