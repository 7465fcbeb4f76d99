#include "process/memory_policy.hpp"

#include <algorithm>
#include <array>

#include "os/cpu_set.hpp"
#include "process/fields_of_text.hpp"

namespace perdure::process {
namespace {

// Names by their numbers in the kernel's interface.
constexpr std::array<std::string_view, 7> kPolicyModes = {
    "default", "prefer", "bind", "interleave", "local", "prefer (many)", "weighted interleave"};
constexpr std::int32_t kStatic = 1 << 15, kRelative = 1 << 14, kModeBits = (1 << 13) - 1;
constexpr std::uint32_t kMostPolicyNodes = 1024;

std::optional<std::int32_t> policy_flags(std::string_view words) {
  std::int32_t flags = 0;
  while (!words.empty()) {
    const auto end = std::min(words.find('|'), words.size());
    const auto word = words.substr(0, end);
    if (word != "static" && word != "relative" && word != "balancing") return std::nullopt;
    flags |= word == "static" ? kStatic : word == "relative" ? kRelative : 0;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return flags;
}

std::optional<std::vector<std::uint32_t>> policy_nodes(std::string_view list) {
  const auto parsed = os::CpuSet::parse(list);
  if (!parsed || parsed->empty()) return std::nullopt;
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t node = 0; node < kMostPolicyNodes; ++node)
    if (parsed->contains(node)) nodes.push_back(node);
  return nodes.size() == parsed->count() ? std::optional(std::move(nodes)) : std::nullopt;
}

}  // namespace

std::optional<MemoryPolicy> parse_policy(std::string_view text) {
  const auto colon = std::min(text.find(':'), text.size());
  const auto equal = std::min(text.find('='), colon);
  const auto mode = std::find(kPolicyModes.begin(), kPolicyModes.end(), text.substr(0, equal));
  if (mode == kPolicyModes.end()) return std::nullopt;
  MemoryPolicy policy{static_cast<std::int32_t>(mode - kPolicyModes.begin()), {}};
  if (equal < colon) {
    const auto flags = policy_flags(text.substr(equal + 1, colon - equal - 1));
    if (!flags) return std::nullopt;
    policy.mode |= *flags;
  }
  if (colon == text.size()) return policy;
  auto nodes = policy_nodes(text.substr(colon + 1));
  if (!nodes) return std::nullopt;
  policy.nodes = std::move(*nodes);
  return policy;
}

std::string policy_text(const MemoryPolicy& policy) {
  const auto mode = static_cast<std::size_t>(policy.mode & kModeBits);
  std::string text(mode < kPolicyModes.size() ? kPolicyModes[mode] : kPolicyModes[0]);
  if ((policy.mode & kStatic) != 0) text += "=static";
  if ((policy.mode & kRelative) != 0) text += "=relative";
  for (std::size_t i = 0; i < policy.nodes.size(); ++i) text += (i == 0 ? ":" : ",") + std::to_string(policy.nodes[i]);
  return text;
}

std::optional<MemoryPolicy> on_nodes(const MemoryPolicy& policy,
                                     const std::function<std::optional<std::uint32_t>(std::uint32_t)>& here) {
  MemoryPolicy other{policy.mode, {}};
  for (const auto node : policy.nodes)
    if (const auto found = here(node)) other.nodes.push_back(*found);
  if (other.nodes.empty() && !policy.nodes.empty()) return std::nullopt;
  std::sort(other.nodes.begin(), other.nodes.end());
  other.nodes.erase(std::unique(other.nodes.begin(), other.nodes.end()), other.nodes.end());
  return other;
}

std::vector<std::uint64_t> node_words(const std::vector<std::uint32_t>& nodes) {
  std::vector<std::uint64_t> words(kMostPolicyNodes / 64);
  for (const auto node : nodes)
    if (node < kMostPolicyNodes) words[node / 64] |= std::uint64_t{1} << (node % 64);
  return words;
}

}  // namespace perdure::process
