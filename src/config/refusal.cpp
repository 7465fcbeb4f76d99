#include "config/refusal.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "config/directories.hpp"
#include "config/node_numbers.hpp"
#include "config/settings.hpp"
#include "placement/registry.hpp"
#include "redundancy/registry.hpp"

namespace perdure::config {
namespace {

template <class Members>
std::string joined_names(const Members& members) {
  std::string names;
  for (const auto& member : members) names += (names.empty() ? "" : "|") + std::string(member.name);
  return names;
}

// Refusals live in static memory.
const char* no_such_tier() {
  static const std::string kText = [] {
    std::string text = "names a tier that does not exist; there are ";
    const auto tiers = known_tiers();
    for (std::size_t i = 0; i < tiers.size(); ++i)
      text += (i == 0 ? "" : i + 1 == tiers.size() ? " and " : ", ") + tiers[i];
    return text;
  }();
  return kText.c_str();
}

}  // namespace

const char* refuse_empty(std::string_view value) { return value.empty() ? "must not be empty" : nullptr; }

const char* refuse_job(std::string_view value) {
  return value.empty() || value.size() > 128 ? "must have 1 to 128 characters" : nullptr;
}

const char* refuse_long(std::string_view value) {
  return value.size() > 128 ? "must have at most 128 characters" : nullptr;
}

std::string placement_policies() { return joined_names(placement::policies()); }
std::string redundancy_schemes() { return joined_names(redundancy::schemes()); }

const char* refuse_tier_order(std::string_view value) {
  const auto known = known_tiers();
  std::set<std::string> seen;
  for (const std::string& name : split_list(value)) {
    if (name.empty()) return "must name tiers, separated by single commas";
    if (std::find(known.begin(), known.end(), name) == known.end()) return no_such_tier();
    if (!seen.insert(name).second) return "names a tier twice";
  }
  return nullptr;
}

const char* refuse_pipeline(std::string_view value) {
  std::set<std::string> seen;
  for (const std::string& name : split_list(value)) {
    if (name.empty()) return "must name steps, separated by single commas";
    if (!seen.insert(name).second) return "names a step twice";
  }
  return nullptr;
}

const char* refuse_segment_per(std::string_view value) {
  if (value == "node" || value == "rank") return nullptr;
  unsigned segments = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), segments);
  const bool number = error == std::errc() && end == value.data() + value.size();
  return number && segments >= 1 && segments <= 1000000 ? nullptr : "must be node, rank, or a number from 1 to 1000000";
}

const char* refuse_node_numbers(std::string_view value) { return parse_node_numbers(value).refusal; }

}  // namespace perdure::config
