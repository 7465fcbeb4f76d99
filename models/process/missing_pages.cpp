#include "process/missing_pages.hpp"

#include <algorithm>

namespace perdure::process {

MissingPages::MissingPages(const std::vector<PageRun>& runs) {
  for (const PageRun& run : runs)
    if (run.pages > 0) add(run.begin, {run.end(), run.begin});
}

void MissingPages::add(std::uint64_t begin, Range range) {
  ranges_[begin] = range;
  if (range.origin != begin) moved_[range.origin] = begin;
}

void MissingPages::remove(std::uint64_t begin) {
  const auto found = ranges_.find(begin);
  if (found->second.origin != begin) moved_.erase(found->second.origin);
  ranges_.erase(found);
}

/// Returns the first range that ends behind the address.
MissingPages::Ranges::const_iterator MissingPages::first_behind(std::uint64_t address) const {
  auto next = ranges_.upper_bound(address);
  if (next != ranges_.begin() && std::prev(next)->second.end > address) --next;
  return next;
}

std::optional<std::uint64_t> MissingPages::origin_of(std::uint64_t address) const {
  const auto found = first_behind(address);
  if (found == ranges_.end() || found->first > address) return std::nullopt;
  return found->second.origin + (address - found->first);
}

void MissingPages::drop(std::uint64_t begin, std::uint64_t end) {
  for (auto next = first_behind(begin); next != ranges_.end() && next->first < end; next = first_behind(begin)) {
    const auto [at, range] = *next;
    remove(at);
    if (at < begin) add(at, {begin, range.origin});
    if (range.end > end) add(end, {range.end, range.origin + (end - at)});
  }
}

void MissingPages::move(std::uint64_t from, std::uint64_t to, std::uint64_t bytes) {
  std::vector<Part> parts;
  for (auto next = first_behind(from); next != ranges_.end() && next->first < from + bytes; ++next) {
    const std::uint64_t begin = std::max(next->first, from), end = std::min(next->second.end, from + bytes);
    parts.push_back({begin - from + to, next->second.origin + (begin - next->first), end - begin});
  }
  drop(from, from + bytes);
  drop(to, to + bytes);
  for (const Part& part : parts) add(part.address, {part.address + part.bytes, part.origin});
}

std::vector<MissingPages::Part> MissingPages::of(std::uint64_t origin, std::uint64_t bytes) const {
  std::vector<Part> parts;
  const auto take = [&](std::uint64_t address, const Range& range) {
    const std::uint64_t begin = std::max(range.origin, origin);
    const std::uint64_t end = std::min(range.origin + (range.end - address), origin + bytes);
    if (begin < end) parts.push_back({address + (begin - range.origin), begin, end - begin});
  };
  for (auto next = first_behind(origin); next != ranges_.end() && next->first < origin + bytes; ++next)
    if (next->second.origin == next->first) take(next->first, next->second);
  auto moved = moved_.upper_bound(origin);
  if (moved != moved_.begin()) --moved;
  for (; moved != moved_.end() && moved->first < origin + bytes; ++moved)
    take(moved->second, ranges_.at(moved->second));
  return parts;
}

}  // namespace perdure::process
