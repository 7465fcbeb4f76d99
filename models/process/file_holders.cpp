#include "process/file_holders.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "process/fields_of_text.hpp"
#include "process/kernel_ids.hpp"
#include "process/proc_text.hpp"

namespace perdure::process {
namespace {

/// Files of the process by their links.
using Wanted = std::multimap<std::string, SeenFile*, std::less<>>;

/// Other processes could change or read these files, besides the process. Named files, terminals and devices are opened
/// separately by each process.
bool is_wanted(const SeenFile& seen) {
  const auto& what = seen.file.what;
  const bool own = std::holds_alternative<NamedFile>(what) || std::holds_alternative<Terminal>(what);
  return seen.known && !own;
}

bool is_unique(std::string_view link) { return link.starts_with("pipe:[") || link.starts_with("socket:["); }

void compare_one(const SeenFiles& seen, SeenFile& file, pid_t other, int number, const std::string& path) {
  if (!file.holders.empty() && file.holders.back() == other) return;
  bool same = is_unique(file.link);
  if (!same && file.link.starts_with("anon_inode:")) {
    same = compare_files(seen.process, file.numbers.front(), other, number) == Order::same;
  } else if (!same) {
    struct stat facts {};
    same = ::stat(path.c_str(), &facts) == 0 && facts.st_dev == file.device && facts.st_ino == file.inode;
  }
  if (same) file.holders.push_back(other);
}

void look_into(const SeenFiles& seen, const Wanted& wanted, pid_t other) {
  const std::string directory = "/proc/" + std::to_string(other) + "/fd";
  each_number_in(directory, [&](int number) {
    const std::string path = directory + "/" + std::to_string(number);
    std::array<char, 4096> link;
    const auto length = ::readlink(path.c_str(), link.data(), link.size());
    if (length <= 0) return;
    const auto [begin, end] = wanted.equal_range(std::string_view(link.data(), static_cast<std::size_t>(length)));
    for (auto at = begin; at != end; ++at) compare_one(seen, *at->second, other, number, path);
  });
}

/// Takes over earlier results, if they cover all wanted links.
bool take_from(const SeenFiles& before, const std::vector<std::string>& links, const Wanted& wanted) {
  if (!std::includes(before.asked_for.begin(), before.asked_for.end(), links.begin(), links.end())) return false;
  for (const auto& [link, file] : wanted) {
    const auto same = [&file = file](const SeenFile& one) {
      return one.link == file->link && one.numbers.front() == file->numbers.front() && one.inode == file->inode;
    };
    const auto found = std::find_if(before.files.begin(), before.files.end(), same);
    if (found == before.files.end()) return false;
    file->holders = found->holders;
  }
  return true;
}

}  // namespace

void find_holders(SeenFiles& seen, const LookChoices& choices) {
  Wanted wanted;
  std::set<std::string> links;
  for (auto& file : seen.files) {
    if (!is_wanted(file)) continue;
    wanted.emplace(file.link, &file);
    links.insert(file.link);
  }
  seen.asked_for.assign(links.begin(), links.end());
  if (wanted.empty()) return;
  if (choices.before != nullptr && take_from(*choices.before, seen.asked_for, wanted)) return;
  each_number_in("/proc", [&](int other) {
    if (other != seen.process && !choices.inside.contains(other)) look_into(seen, wanted, other);
  });
}

}  // namespace perdure::process
