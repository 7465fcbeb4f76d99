#include "capture/block_plan.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace perdure::capture {
namespace {

using State = BlockState;

// A thread that has waited in so many of the blocks is about to wait for longer than copying all takes. Measured with
// blocks of 16 KiB: a wait takes as long as copying ten of them.
constexpr std::size_t kOfFaulted = 32, kOfOpened = 400;

// Indexed by state and event.
constexpr std::array<std::array<std::optional<State>, 5>, 7> kAfter = {{
    // take            await           finish         open          lose
    {State::copying, std::nullopt, std::nullopt, std::nullopt, State::lost},   // untouched
    {std::nullopt, State::awaited, State::copied, std::nullopt, State::lost},  // copying
    {std::nullopt, State::awaited, State::copied, std::nullopt, State::lost},  // awaited
    {std::nullopt, std::nullopt, std::nullopt, State::open, State::dropped},   // copied: we have it
    {std::nullopt, std::nullopt, std::nullopt, std::nullopt, State::dropped},  // open
    {std::nullopt, std::nullopt, std::nullopt, std::nullopt, State::dropped},  // dropped
    {std::nullopt, std::nullopt, std::nullopt, std::nullopt, State::lost},     // lost
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

/// Returns the least length of ranges that are within the limit.
std::uint64_t least_of(std::vector<std::uint64_t> lengths, const CopyChoiceLimits& limits) {
  if (lengths.size() <= limits.most_ranges) return limits.least_bytes;
  const auto nth = lengths.begin() + static_cast<std::ptrdiff_t>(limits.most_ranges);
  std::nth_element(lengths.begin(), nth, lengths.end(), std::greater<>());
  return *nth + 1;  // none of equally long ones: fewer are not many more copies
}

/// Returns the number of each range's first block, and the number of all.
std::vector<std::size_t> firsts_of(const std::vector<CopyPart>& ranges, std::uint64_t block_bytes) {
  std::vector<std::size_t> firsts;
  std::size_t blocks = 0;
  for (const CopyPart& range : ranges) {
    firsts.push_back(blocks);
    blocks += (range.end - 1) / block_bytes - range.begin / block_bytes + 1;
  }
  firsts.push_back(blocks);
  return firsts;
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

BlockPlan::BlockPlan(std::vector<CopyPart> ranges, std::uint64_t block_bytes, const RunLimits& limits)
    : ranges_(std::move(ranges)),
      by_address_(ranges_.size()),
      first_(firsts_of(ranges_, block_bytes)),
      states_(first_.back(), BlockState::untouched),
      block_bytes_(block_bytes),
      limits_(limits),
      faulted_(1, limits.most_faulted, states_.size() / kOfFaulted),
      opened_(limits.least_opened, limits.most_opened, states_.size() / kOfOpened) {
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

CopyPart BlockPlan::part(const BlockRun& run) const {
  CopyPart whole = block(run.first);
  whole.end = block(run.first + run.count - 1).end;
  return whole;
}

BlockRun BlockPlan::until_multiple(std::size_t first, std::uint64_t bytes) const {
  const std::uint64_t limit = (block(first).begin / bytes + 1) * bytes;
  return {first, *at(std::min(limit, ranges_[range_of(first)].end) - 1) + 1 - first};
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
    const std::size_t last_number = *at(last - 1);
    for (std::size_t number = *at(first); number <= last_number; ++number) {
      (void)happens(number, BlockEvent::lose);
      any = any || states_[number] == BlockState::lost;
    }
  }
  return any;
}

void BlockPlan::happens(const BlockRun& run, BlockEvent event) {
  for (std::size_t number = run.first; number < run.first + run.count; ++number) (void)happens(number, event);
}

BlockRun BlockPlan::take_from(std::size_t first, std::size_t most) {
  const std::size_t end = std::min(first + most, first_[range_of(first) + 1]);
  BlockRun run{first, 0};
  while (first + run.count < end && happens(first + run.count, BlockEvent::take)) ++run.count;
  return run;
}

BlockRun BlockPlan::take(std::size_t wanted) {
  while (ahead_ < ahead_end_ && states_[ahead_] != State::untouched) ++ahead_;
  if (ahead_ == ahead_end_) return take_from(wanted, limits_.rest);
  const BlockRun run = take_from(ahead_, std::min(limits_.rest, ahead_end_ - ahead_));
  ahead_ += run.count;
  return run;
}

BlockRun BlockPlan::take_faulted(std::size_t number) {
  const BlockRun run = take_from(number, faulted_.of(number));
  faulted_.took(run);
  ahead_ = number + run.count;
  ahead_end_ = std::min(ahead_ + limits_.ahead, first_[range_of(number) + 1]);
  return run;
}

bool BlockPlan::any(const BlockRun& run, BlockState state) const {
  const auto first = states_.begin() + static_cast<std::ptrdiff_t>(run.first);
  const auto end = first + static_cast<std::ptrdiff_t>(run.count);
  return std::find(first, end, state) != end;
}

// Most writers continue upwards.
BlockRun BlockPlan::take_copied(std::size_t number) {
  const std::size_t range = range_of(number), most = opened_.of(number);
  const std::size_t end = std::min(first_[range + 1], number + most);
  const std::size_t least = std::max(first_[range], number - std::min(number, limits_.least_opened));
  std::size_t first = number, after = number;
  while (after < end && states_[after] == State::copied) ++after;
  while (first > least && states_[first - 1] == State::copied) --first;
  const BlockRun run{first, after - first};
  opened_.took(run);
  return run;
}

Stride::Stride(std::size_t least, std::size_t most, std::size_t patience)
    : least_(least), most_(most), patience_(std::max<std::size_t>(4, patience)) {}

// A thread that copies ahead may have done the blocks between the last ones and this.
std::size_t Stride::of(std::size_t number) const {
  const std::size_t end = last_.first + last_.count;
  const bool follows = last_.count > 0 && number >= end && number - end <= most_;
  std::size_t blocks = follows ? std::max(least_, 2 * last_.count) : least_;
  for (std::size_t waits = waits_; waits >= patience_ && blocks < most_; waits -= patience_ / 4) blocks *= 2;
  return std::min(blocks, most_);
}

void Stride::took(const BlockRun& run) {
  last_ = run;
  ++waits_;
}

}  // namespace perdure::capture
