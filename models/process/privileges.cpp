#include "process/privileges.hpp"

#include <algorithm>

#include "process/fields_of_text.hpp"
#include "process/proc_facts.hpp"

namespace perdure::process {
namespace {

std::string list_of_groups(const std::vector<std::uint32_t>& groups) {
  std::string all;
  for (const auto one : groups) all += (all.empty() ? "" : ", ") + std::to_string(one);
  return all.empty() ? "none" : all;
}

}  // namespace

Privileges parse_privileges(std::string_view status) {
  Privileges all;
  all.permitted = first_number(status, "CapPrm", 16);
  all.effective = first_number(status, "CapEff", 16);
  all.inheritable = first_number(status, "CapInh", 16);
  all.bounding = first_number(status, "CapBnd", 16);
  for (const auto word : words_of(value_of(status, "Groups").value_or("")))
    if (std::uint32_t group = 0; number_of(word, group)) all.groups.push_back(group);
  std::sort(all.groups.begin(), all.groups.end());
  return all;
}

Privileges common_capabilities(const Privileges& one, const Privileges& other) {
  return {one.permitted & other.permitted,
          one.effective & other.effective,
          one.inheritable & other.inheritable,
          one.bounding & other.bounding,
          {}};
}

bool same_capabilities(const Privileges& one, const Privileges& other) {
  return one.permitted == other.permitted && one.effective == other.effective && one.inheritable == other.inheritable &&
         one.bounding == other.bounding;
}

std::vector<std::string> differences(const Privileges& before, const Privileges& now) {
  std::vector<std::string> all;
  if ((before.permitted & ~now.permitted) != 0)
    all.push_back("it had capabilities that whoever resumes it has not (/proc/PID/status, CapPrm): it goes on without");
  if (before.groups != now.groups)
    all.push_back("its supplementary groups were " + list_of_groups(before.groups) + ", and are those of whoever " +
                  "resumes it: " + list_of_groups(now.groups));
  return all;
}

}  // namespace perdure::process
