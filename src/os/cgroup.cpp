#include "os/cgroup.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>

namespace perdure::os {
namespace {

// The two versions name the same files differently.
struct Names {
  const char* limit;
  const char* usage;
  const char* droppable;  ///< key in memory.stat
};
constexpr Names kVersion1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr Names kVersion2 = {"memory.max", "memory.current", "inactive_file"};

// Returns nothing for "max", unreadable and missing files.
std::optional<std::uint64_t> read_number(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  if (!(file >> text)) return std::nullopt;
  std::uint64_t value = 0;
  auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

std::uint64_t read_stat(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string name;
  for (std::uint64_t value = 0; file >> name >> value;)
    if (name == key) return value;
  return 0;
}

void apply_group(const std::string& directory, const Names& names, MemoryLimit& least) {
  const auto limit = read_number(directory + "/" + names.limit);
  if (!limit) return;
  least.limit_bytes = std::min(least.limit_bytes, *limit);
  const std::uint64_t usage = read_number(directory + "/" + names.usage).value_or(0);
  const std::uint64_t droppable = std::min(usage, read_stat(directory + "/memory.stat", names.droppable));
  const std::uint64_t used = usage - droppable;
  least.available_bytes = std::min(least.available_bytes, *limit > used ? *limit - used : 0);
}

// In a container the path may be that of the host, and not exist here. The walk up then ends at the root, which is
// ours.
void apply_path(const std::string& mount, std::string path, const Names& names, MemoryLimit& least) {
  while (!path.empty()) {
    apply_group(mount + path, names, least);
    const std::size_t slash = path.rfind('/');
    path.resize(slash == std::string::npos ? 0 : slash);
  }
  apply_group(mount, names, least);
}

bool lists_memory(const std::string& controllers) {
  std::istringstream list(controllers);
  for (std::string one; std::getline(list, one, ',');)
    if (one == "memory") return true;
  return false;
}

}  // namespace

MemoryLimit cgroup_memory(const std::string& membership, const std::string& root) {
  MemoryLimit least;
  std::istringstream lines(membership);
  for (std::string line; std::getline(lines, line);) {  // "hierarchy:controllers:path"
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) apply_path(root, path, kVersion2, least);
    if (lists_memory(controllers)) apply_path(root + "/memory", path, kVersion1, least);
  }
  return least;
}

}  // namespace perdure::os
