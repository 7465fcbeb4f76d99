#include "node/directories.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "config/directories.hpp"

namespace perdure::node {
namespace {

namespace fs = std::filesystem;

struct Usage {
  std::uint64_t bytes = 0;
  std::int64_t last_s = 0;  // of the wall clock
};

/// Counts the space that is really backed, since the memory tier's arena has holes, and the time of the last write.
Usage used_by(const std::string& directory) {
  Usage used;
  std::error_code error;
  for (fs::recursive_directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    struct stat facts {};
    if (::lstat(at->path().c_str(), &facts) != 0) continue;
    used.bytes += static_cast<std::uint64_t>(facts.st_blocks) * 512;
    used.last_s = std::max<std::int64_t>(used.last_s, facts.st_mtim.tv_sec);
  }
  return used;
}

bool is_locked(const std::string& path) {
  const auto lock = os::File::open(path + kLock, os::Open::read);
  if (!lock) return false;
  const auto locked = lock->try_lock();
  return !locked && locked.error().code == PERDURE_BUSY;
}

/// Missing roots have no entries.
std::vector<std::string> engine_entries(const std::string& root, std::string_view ending) {
  std::vector<std::string> names;
  auto entries = os::list_directory(root);
  if (!entries) return names;
  for (const os::Entry& entry : *entries) {
    std::string_view name = entry.name;
    if (!entry.directory || !name.ends_with(ending)) continue;
    name.remove_suffix(ending.size());
    if (is_engine_name(name)) names.emplace_back(name);
  }
  return names;
}

EngineDirectory looked_at(const config::Config& config, const std::string& name) {
  EngineDirectory directory;
  directory.path = config::node_root(config) + "/" + name;
  add_part(directory, directory.path);
  for (const std::string& tier : config::known_tiers()) add_part(directory, config::tier_directory(config, tier, name));
  directory.alive = is_locked(directory.path);
  return directory;
}

}  // namespace

bool path_leads_to(const os::File& file) {
  struct stat opened {
  }, named{};
  return ::fstat(file.fd(), &opened) == 0 && ::stat(file.path().c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

double EngineDirectory::unused_s() const {
  if (written_s == 0) return 0;
  return std::max(0.0, static_cast<double>(static_cast<std::int64_t>(std::time(nullptr)) - written_s));
}

bool is_engine_name(std::string_view name) {
  if (name.size() < 18 || name[16] != '.') return false;
  auto all = [](std::string_view text, const char* allowed) {
    return text.find_first_not_of(allowed) == std::string_view::npos;
  };
  return all(name.substr(0, 16), "0123456789abcdef") && all(name.substr(17), "0123456789");
}

base::Result<std::vector<std::string>> engine_directories(const std::string& node_root) {
  auto entries = os::list_directory(node_root);
  if (!entries && entries.error().code != PERDURE_NOT_FOUND) return base::fail(entries.error());
  std::vector<std::string> found;
  for (const std::string& name : engine_entries(node_root, "")) found.push_back(node_root + "/" + name);
  return found;
}

base::Result<std::vector<EngineDirectory>> find_engine_directories(const config::Config& config) {
  std::vector<std::string> names = engine_entries(config::node_root(config), "");
  for (const std::string& tier : config::known_tiers()) {
    const auto orphans = engine_entries(config::tier_root(config, tier), config::tier_suffix(tier));
    names.insert(names.end(), orphans.begin(), orphans.end());
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::vector<EngineDirectory> found;
  for (const std::string& name : names) found.push_back(looked_at(config, name));
  return found;
}

void add_part(EngineDirectory& directory, const std::string& part) {
  auto& parts = directory.directories;
  if (std::find(parts.begin(), parts.end(), part) != parts.end() || !os::exists(part).value_or(false)) return;
  const Usage used = used_by(part);
  directory.written_s = std::max(directory.written_s, used.last_s);
  directory.bytes += used.bytes;
  parts.push_back(part);
}

std::uint64_t memory_of_others(const std::string& tier_root, std::string_view own) {
  std::uint64_t bytes = 0;
  for (const std::string& name : engine_entries(tier_root, "")) {
    if (name == own) continue;
    const std::string directory = tier_root + "/" + name;
    const auto entries = os::list_directory(directory);
    if (!entries) continue;
    for (const os::Entry& entry : *entries) {
      struct stat facts {};
      if (!entry.name.starts_with("arena") || ::lstat((directory + "/" + entry.name).c_str(), &facts) != 0) continue;
      bytes += static_cast<std::uint64_t>(facts.st_blocks) * 512;
    }
  }
  return bytes;
}

}  // namespace perdure::node
