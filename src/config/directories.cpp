#include "config/directories.hpp"

#include <cstdlib>

#include "os/system.hpp"

namespace perdure::config {
namespace {

// One for each user, so that nobody has to share, or may enter, those of others.
std::string user_directory(const std::string& parent) { return parent + "/perdure-" + std::to_string(os::user_id()); }

}  // namespace

std::string node_root(const Config& config) {
  const std::string set = config.text("node.path");
  return set.empty() ? user_directory("/dev/shm") : set;
}

std::string memory_tier_root(const Config& config) {
  const std::string set = config.text("tier.memory.path");
  return set.empty() ? node_root(config) : set;
}

std::string file_tier_root(const Config& config) {
  const std::string set = config.text("tier.file.path");
  const char* temporary = std::getenv("TMPDIR");
  return set.empty() ? user_directory(temporary == nullptr ? "/tmp" : temporary) : set;
}

}  // namespace perdure::config
