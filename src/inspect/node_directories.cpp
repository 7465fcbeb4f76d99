#include "inspect/node_directories.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "config/directories.hpp"
#include "os/file.hpp"

namespace perdure::inspect {
namespace {

namespace fs = std::filesystem;
constexpr const char* kLock = "/engine.lock";

/// "<16 hexadecimal digits>.<number>", as engines name their directories; nothing else is ever touched.
bool is_engine_name(std::string_view name) {
  if (name.size() < 18 || name[16] != '.') return false;
  auto all = [](std::string_view text, const char* allowed) {
    return text.find_first_not_of(allowed) == std::string_view::npos;
  };
  return all(name.substr(0, 16), "0123456789abcdef") && all(name.substr(17), "0123456789");
}

struct Usage {
  std::uint64_t bytes = 0;
  std::time_t last_s = 0;  // of the wall clock
};

/// What is really backed, as the memory tier's arena has holes, and when it was written last.
Usage used_by(const std::string& directory) {
  Usage used;
  std::error_code error;
  for (fs::recursive_directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    struct stat facts {};
    if (::lstat(at->path().c_str(), &facts) != 0) continue;
    used.bytes += static_cast<std::uint64_t>(facts.st_blocks) * 512;
    used.last_s = std::max(used.last_s, facts.st_mtim.tv_sec);
  }
  return used;
}

base::Result<os::File> lock_of(const std::string& path) {
  PERDURE_TRY(auto lock, os::File::open(path + kLock, os::Open::read));
  PERDURE_CHECK(lock.try_lock());
  return lock;
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

}  // namespace

base::Result<std::vector<std::string>> engine_directories(const std::string& node_root) {
  auto entries = os::list_directory(node_root);
  if (!entries && entries.error().code != PERDURE_NOT_FOUND) return base::fail(entries.error());
  std::vector<std::string> found;
  for (const std::string& name : engine_entries(node_root, "")) found.push_back(node_root + "/" + name);
  return found;
}

base::Result<std::vector<NodeDirectory>> find_node_directories(const config::Config& config) {
  const std::string root = config::node_root(config);
  std::vector<std::string> names = engine_entries(root, "");
  for (const std::string& tier : config::known_tiers()) {
    const auto orphans = engine_entries(config::tier_root(config, tier), config::tier_suffix(tier));
    names.insert(names.end(), orphans.begin(), orphans.end());
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::vector<NodeDirectory> found;
  for (const std::string& name : names) {
    NodeDirectory directory{root + "/" + name, {}, 0, 0, false};
    std::time_t last_s = 0;
    std::vector<std::string> parts{directory.path};
    for (const std::string& tier : config::known_tiers())
      if (auto slots = config::tier_directory(config, tier, name); slots != directory.path) parts.push_back(slots);
    for (const std::string& part : parts) {
      if (!os::exists(part).value_or(false)) continue;
      directory.directories.push_back(part);
      const Usage used = used_by(part);
      directory.bytes += used.bytes;
      last_s = std::max(last_s, used.last_s);
    }
    if (last_s != 0) directory.unused_s = std::max(0.0, std::difftime(std::time(nullptr), last_s));
    const auto lock = lock_of(directory.path);
    directory.alive = !lock && lock.error().code == PERDURE_BUSY;
    found.push_back(std::move(directory));
  }
  return found;
}

base::Status remove_node_directory(const NodeDirectory& directory) {
  auto lock = lock_of(directory.path);
  if (!lock && lock.error().code != PERDURE_NOT_FOUND) return base::fail(lock.error());
  // The tiers first: while the engine's own directory is there, its lock keeps others out.
  for (auto part = directory.directories.rbegin(); part != directory.directories.rend(); ++part)
    PERDURE_CHECK(os::remove_tree(*part));
  return {};
}

}  // namespace perdure::inspect
