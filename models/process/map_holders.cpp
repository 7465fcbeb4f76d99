#include "process/map_holders.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "process/fields_of_text.hpp"
#include "process/proc_text.hpp"

namespace perdure::process {
namespace {

/// Returns whether its last name is gone, so that no other process can open it any more.
bool has_no_name(pid_t process, const MemoryMap& map) {
  char range[64];
  std::snprintf(range, sizeof range, "%llx-%llx", static_cast<unsigned long long>(map.begin),
                static_cast<unsigned long long>(map.end));
  struct stat status {};
  const std::string path = "/proc/" + std::to_string(process) + "/map_files/" + range;
  struct statfs system {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 0 &&
         ::statfs(path.c_str(), &system) == 0 && system.f_type != HUGETLBFS_MAGIC;
}

void leave_out_mapped_by(pid_t other, std::set<MappedFile>& files) {
  each_line(proc_text("/proc/" + std::to_string(other) + "/maps"), [&](std::string_view line) {
    if (!line.ends_with(" (deleted)")) return true;
    if (const auto map = parse_map(line)) files.erase(mapped_file(*map));
    return true;
  });
}

void leave_out_open_in(pid_t other, std::set<MappedFile>& files) {
  const std::string directory = "/proc/" + std::to_string(other) + "/fd";
  each_number_in(directory, [&](int number) {
    struct stat status {};
    if (::stat((directory + "/" + std::to_string(number)).c_str(), &status) != 0) return;
    files.erase({std::uint64_t{major(status.st_dev)} << 32 | minor(status.st_dev), status.st_ino});
  });
}

}  // namespace

std::set<MappedFile> nameless_files_of(const SeenFiles& seen, const std::vector<MemoryMap>& maps,
                                       const std::set<pid_t>& inside) {
  std::set<MappedFile> files;
  const auto is_open = [&](const MemoryMap& map) {
    return std::any_of(seen.files.begin(), seen.files.end(),
                       [&](const SeenFile& one) { return one.inode == map.inode && one.link == map.name; });
  };
  for (const MemoryMap& map : maps)
    if (map.shared && map.is_file() && map.name.ends_with(" (deleted)") && !is_shared_without_file(map.name) &&
        !is_open(map) && has_no_name(seen.process, map))
      files.insert(mapped_file(map));
  if (files.empty()) return files;
  each_number_in("/proc", [&](int other) {
    if (other == seen.process || inside.contains(other) || files.empty()) return;
    leave_out_mapped_by(other, files);
    leave_out_open_in(other, files);
  });
  return files;
}

}  // namespace perdure::process
