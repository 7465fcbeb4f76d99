#include "segment/version_ranges.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace perdure::segment {

// Orders by name, then by version.
std::string version_ranges(const std::vector<VersionId>& ids) {
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const auto& id : ids) {
    const auto [at, is_new] = ranges.try_emplace(id.name, id.version, id.version);
    auto& [first, last] = at->second;
    first = std::min(first, id.version);
    last = std::max(last, id.version);
  }
  constexpr std::size_t kMostNames = 3;
  std::string text;
  std::size_t told = 0;
  for (const auto& [name, range] : ranges) {
    if (told++ == kMostNames) break;
    const auto [first, last] = range;
    text += (text.empty() ? "" : ", ") + name + (first == last ? " version " : " versions ") + std::to_string(first);
    if (first != last) text += " to " + std::to_string(last);
  }
  if (ranges.size() > kMostNames) text += " and " + std::to_string(ranges.size() - kMostNames) + " other names";
  return text;
}

std::string versions_there(std::vector<std::uint64_t> versions) {
  std::sort(versions.begin(), versions.end());
  versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
  if (versions.empty()) return {};
  if (versions.size() == 1) return "its only version is " + std::to_string(versions.front());
  constexpr std::size_t kMost = 8, kLast = 3;
  const bool many = versions.size() > kMost;
  std::string text = "its versions are ";
  if (many)
    text = "its " + std::to_string(versions.size()) + " versions are " + std::to_string(versions.front()) + " to " +
           std::to_string(versions.back()) + ", the last ones ";
  const std::size_t first = many ? versions.size() - kLast : 0;
  for (std::size_t i = first; i < versions.size(); ++i) text += (i == first ? "" : ", ") + std::to_string(versions[i]);
  return text;
}

}  // namespace perdure::segment
