#include "capture/block_plan.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace perdure::capture {
namespace {

using State = BlockState;

// By state and event.
constexpr std::array<std::array<std::optional<State>, 3>, 4> kAfter = {{
    // take            finish          lose
    {State::copying, std::nullopt, State::lost},  // untouched
    {std::nullopt, State::copied, State::lost},   // copying
    {std::nullopt, std::nullopt, State::copied},  // copied: whatever becomes of it, we have it
    {std::nullopt, std::nullopt, State::lost},    // lost
}};

bool inside(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& memory, std::uint64_t begin,
            std::uint64_t end) {
  const auto after = std::upper_bound(memory.begin(), memory.end(), begin,
                                      [](std::uint64_t at, const auto& range) { return at < range.first; });
  return after != memory.begin() && end <= std::prev(after)->second;
}

void add(std::vector<CopyPart>& parts, const CopyPart& of, std::uint64_t begin, std::uint64_t end) {
  if (begin < end) parts.push_back({begin, end, of.to + (begin - of.begin)});
}

/// The length from which on ranges are among the most that may be.
std::uint64_t least_of(std::vector<std::uint64_t> lengths, const CopyChoiceLimits& limits) {
  if (lengths.size() <= limits.most_ranges) return limits.least_bytes;
  const auto nth = lengths.begin() + static_cast<std::ptrdiff_t>(limits.most_ranges);
  std::nth_element(lengths.begin(), nth, lengths.end(), std::greater<>());
  return *nth + 1;  // of equally long ones none: fewer are not many more copies
}

}  // namespace

CopyChoice choose_copy(const std::vector<CopyPart>& parts,
                       const std::vector<std::pair<std::uint64_t, std::uint64_t>>& memory,
                       const CopyChoiceLimits& limits) {
  const std::uint64_t page = limits.page_bytes;
  const auto pages_of = [&](const CopyPart& part) {
    const std::uint64_t begin = (part.begin + page - 1) / page * page, end = part.end / page * page;
    const bool can = begin < end && end - begin >= limits.least_bytes && inside(memory, begin, end);
    return can ? std::pair(begin, end) : std::pair(part.end, part.end);
  };
  std::vector<std::uint64_t> lengths;
  for (const CopyPart& part : parts)
    if (const auto [begin, end] = pages_of(part); begin < end) lengths.push_back(end - begin);
  const std::uint64_t least = least_of(std::move(lengths), limits);
  CopyChoice choice;
  for (const CopyPart& part : parts) {
    auto [begin, end] = pages_of(part);
    if (end - begin < least) begin = end = part.end;
    add(choice.now, part, part.begin, begin);
    add(choice.later, part, begin, end);
    add(choice.now, part, end, part.end);
  }
  return choice;
}

std::optional<BlockState> after(BlockState state, BlockEvent event) {
  return kAfter[static_cast<std::size_t>(state)][static_cast<std::size_t>(event)];
}

BlockPlan::BlockPlan(std::vector<CopyPart> ranges, std::uint64_t block_bytes)
    : ranges_(std::move(ranges)), by_address_(ranges_.size()), block_bytes_(block_bytes) {
  std::size_t blocks = 0;
  for (const CopyPart& range : ranges_) {
    first_.push_back(blocks);
    blocks += (range.end - 1) / block_bytes - range.begin / block_bytes + 1;
  }
  first_.push_back(blocks);
  states_.resize(blocks, BlockState::untouched);
  std::iota(by_address_.begin(), by_address_.end(), std::size_t{0});
  std::sort(by_address_.begin(), by_address_.end(),
            [&](std::size_t a, std::size_t b) { return ranges_[a].begin < ranges_[b].begin; });
}

std::size_t BlockPlan::range_of(std::size_t number) const {
  const auto after = std::upper_bound(first_.begin(), first_.end(), number);
  return static_cast<std::size_t>(after - first_.begin()) - 1;
}

CopyPart BlockPlan::block(std::size_t number) const {
  const std::size_t range = range_of(number);
  const CopyPart& whole = ranges_[range];
  const std::uint64_t place = whole.begin / block_bytes_ + (number - first_[range]);
  const std::uint64_t begin = std::max(whole.begin, place * block_bytes_);
  return {begin, std::min(whole.end, (place + 1) * block_bytes_), whole.to + (begin - whole.begin)};
}

std::optional<std::size_t> BlockPlan::at(std::uint64_t address) const {
  const auto after = std::upper_bound(by_address_.begin(), by_address_.end(), address,
                                      [&](std::uint64_t at, std::size_t range) { return at < ranges_[range].begin; });
  if (after == by_address_.begin()) return std::nullopt;
  const std::size_t range = *std::prev(after);
  if (address >= ranges_[range].end) return std::nullopt;
  return first_[range] + (address / block_bytes_ - ranges_[range].begin / block_bytes_);
}

bool BlockPlan::happens(std::size_t number, BlockEvent event) {
  const auto next = after(states_[number], event);
  if (next) states_[number] = *next;
  return next.has_value();
}

bool BlockPlan::lose(std::uint64_t begin, std::uint64_t end) {
  bool any = false;
  for (const CopyPart& range : ranges_) {
    const std::uint64_t first = std::max(begin, range.begin), last = std::min(end, range.end);
    if (first >= last) continue;
    for (std::size_t number = *at(first); number <= *at(last - 1); ++number) {
      (void)happens(number, BlockEvent::lose);
      any = any || states_[number] == BlockState::lost;
    }
  }
  return any;
}

void BlockPlan::waited_for(std::size_t number) {
  ahead_ = number + 1;
  ahead_end_ = std::min(ahead_ + kAhead, first_[range_of(number) + 1]);
}

std::size_t BlockPlan::next(std::size_t wanted) {
  while (ahead_ < ahead_end_)
    if (const std::size_t number = ahead_++; states_[number] == BlockState::untouched) return number;
  return wanted;
}

}  // namespace perdure::capture
