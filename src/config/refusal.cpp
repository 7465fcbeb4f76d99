#include "config/refusal.hpp"

#include <charconv>
#include <set>
#include <string>

#include "config/config.hpp"
#include "config/node_numbers.hpp"
#include "config/settings.hpp"

namespace perdure::config {
namespace {

// A tier is known when the table has options for it, so that a new tier needs no line here.
bool known_tier(std::string_view name) {
  const std::string prefix = "tier." + std::string(name) + ".";
  for (const Option& option : options()) {
    if (std::string_view(option.key).starts_with(prefix)) return true;
  }
  return false;
}

}  // namespace

const char* refuse_empty(std::string_view value) { return value.empty() ? "must not be empty" : nullptr; }

const char* refuse_job(std::string_view value) {
  return value.empty() || value.size() > 128 ? "must have 1 to 128 characters" : nullptr;
}

const char* refuse_tier_order(std::string_view value) {
  std::set<std::string_view> seen;
  while (true) {
    const auto comma = value.find(',');
    const std::string_view name = trimmed(value.substr(0, comma));
    if (name.empty()) return "must name tiers, separated by single commas";
    if (!known_tier(name)) return "names a tier that does not exist; there are memory and file";
    if (!seen.insert(name).second) return "names a tier twice";
    if (comma == std::string_view::npos) return nullptr;
    value.remove_prefix(comma + 1);
  }
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
