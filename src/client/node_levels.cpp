#include "client/node_levels.hpp"

#include <algorithm>
#include <span>

#include "base/hash.hpp"

namespace perdure::client {
namespace {

constexpr std::size_t kMost = 64;        // attempts in the list: the bits of a word
constexpr std::ptrdiff_t kPatience = 8;  // checkpoints until a wanted attempt must have got there

}  // namespace

std::ptrdiff_t NodeLevels::OfName::place(std::uint64_t attempt_ns) const {
  const auto it = std::find(list.begin(), list.end(), attempt_ns);
  return it == list.end() ? -1 : it - list.begin();
}

// Attempts that all engines promise stay in the list: otherwise nobody could say any more that they still do.
void NodeLevels::OfName::trim() {
  while (list.size() > kMost) {
    const auto oldest = std::find_if(list.begin(), list.end(), [this](auto ns) { return !everywhere.contains(ns); });
    list.erase(oldest == list.end() ? list.begin() : oldest);
  }
}

// A wanted attempt may never get there, because its capture failed. It is replaced after a while.
void NodeLevels::OfName::choose_wanted() {
  const std::ptrdiff_t last = static_cast<std::ptrdiff_t>(list.size()) - 1, at = place(wanted);
  if (wanted != 0 && at > place(newest) && last - at < kPatience) return;
  wanted = last > place(newest) ? list.back() : 0;
}

// No engine gives up anything before it is told: until then they keep the promised attempts.
void NodeLevels::OfName::supersede(std::uint64_t by_ns) {
  newest = by_ns;
  everywhere = {by_ns};
}

// An application that goes back goes on from the older attempt. For it, later entries of the list are newer, whatever
// the clock said. Engines know attempts of earlier launches, too, and go by the clock.
NodeLevelNews NodeLevels::OfName::news() const {
  NodeLevelNews news{newest, {}};
  const auto current = list.begin() + (place(newest) + 1);
  if (newest != 0)
    for (auto it = list.begin(); it != current; ++it) news.attempt_ns = std::max(news.attempt_ns, *it);
  std::set<std::uint64_t> keep = everywhere;
  keep.insert(current, list.end());
  std::erase_if(keep, [&](auto ns) { return ns >= news.attempt_ns; });
  if (wanted != 0) keep.insert(wanted);
  news.keep = {keep.begin(), keep.end()};
  return news;
}

std::optional<NodeLevelNews> NodeLevels::OfName::untold() {
  NodeLevelNews now = news();
  if (now == told) return std::nullopt;
  return told = std::move(now);
}

void NodeLevels::current(const std::string& name, std::uint64_t attempt_ns) {
  OfName& of = names_[name];
  std::erase(of.list, attempt_ns);
  of.list.push_back(attempt_ns);
  of.trim();
}

std::uint64_t NodeLevels::bits(const std::string& name, const std::vector<std::uint64_t>& attempts_ns) const {
  const auto known = names_.find(name);
  if (known == names_.end()) return 0;
  std::uint64_t bits = 0;
  for (const std::uint64_t ns : attempts_ns)
    if (const auto at = known->second.place(ns); at >= 0) bits |= std::uint64_t{1} << at;
  return bits;
}

std::uint32_t NodeLevels::list_hash(const std::string& name) const {
  const auto known = names_.find(name);
  if (known == names_.end()) return 0;
  return static_cast<std::uint32_t>(base::hash64(std::as_bytes(std::span(known->second.list))));
}

std::optional<NodeLevelNews> NodeLevels::promised(const std::string& name, std::uint64_t bits) {
  OfName& of = names_[name];
  std::vector<std::uint64_t> promised;
  for (std::size_t i = 0; i < of.list.size(); ++i)
    if ((bits >> i & 1) != 0) promised.push_back(of.list[i]);
  of.everywhere = {promised.begin(), promised.end()};
  if (!promised.empty() && promised.back() != of.newest) of.supersede(promised.back());
  of.choose_wanted();
  return of.untold();
}

std::optional<NodeLevelNews> NodeLevels::promised_one(const std::string& name, std::uint64_t attempt_ns) {
  OfName& of = names_[name];
  if (of.place(attempt_ns) < 0) of.list.insert(of.list.begin(), attempt_ns);  // an attempt of an earlier launch
  if (of.place(attempt_ns) > of.place(of.newest)) of.supersede(attempt_ns);
  of.everywhere.insert(attempt_ns);
  of.trim();
  if (of.place(of.wanted) <= of.place(of.newest)) of.wanted = 0;
  return of.untold();
}

bool NodeLevels::everywhere(const std::string& name, std::uint64_t attempt_ns) const {
  const auto known = names_.find(name);
  return known != names_.end() && known->second.everywhere.contains(attempt_ns);
}

}  // namespace perdure::client
