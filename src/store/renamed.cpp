#include "store/renamed.hpp"

#include <string_view>

namespace perdure::store {
namespace {

constexpr std::string_view kAside = ".moved";

/// Gives, for a directory that was put aside, the name that its copy is to get.
std::string wanted_name(const std::string& name) {
  return name.ends_with(kAside) && name.size() > kAside.size() ? name.substr(0, name.size() - kAside.size()) : name;
}

}  // namespace

bool differs_in_name(const segment::VersionId& said, const segment::VersionId& place) {
  return said.name != place.name && said.version == place.version && said.attempt == place.attempt;
}

base::Error renamed_directory(const std::string& name, const std::string& said) {
  return {PERDURE_MISMATCH, "checkpoint " + name,
          "its directory was renamed: its segments say that they are of " + said + "; nothing is damaged",
          "perdure rename " + said + " " + wanted_name(name) + ", or give the directory its old name back", false};
}

std::string aside_name(const std::string& name) { return name + std::string(kAside); }

}  // namespace perdure::store
