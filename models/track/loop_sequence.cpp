#include "track/loop_sequence.hpp"

#include <algorithm>

namespace perdure::track {

// A stretch grows while the next loop equals the one that came `back` loops before. Otherwise the last place of that
// loop begins a new stretch.
void LoopSequence::append(LoopId loop) {
  if (recent_.empty()) recent_.resize(kRecent);
  const auto known = numbers_.find(loop);
  std::uint32_t number = 0;
  if (known == numbers_.end()) {
    number = static_cast<std::uint32_t>(loops_.size());
    numbers_.emplace(loop, number);
    loops_.push_back(loop);
    latest_.push_back(size_);
    parts_.push_back({size_, 0, number});
  } else {
    number = known->second;
    const bool goes_on = !parts_.empty() && parts_.back().back != 0 && number_before(parts_.back().back) == number;
    if (!goes_on) parts_.push_back({size_, size_ - latest_[number], 0});
    latest_[number] = size_;
  }
  recent_[size_++ % kRecent] = number;
}

std::uint32_t LoopSequence::number_before(std::uint64_t back) const {
  return back <= kRecent ? recent_[(size_ - back) % kRecent] : number_at(size_ - back);
}

std::uint32_t LoopSequence::number_at(std::uint64_t at) const {
  for (;;) {
    const auto behind = std::upper_bound(parts_.begin(), parts_.end(), at,
                                         [](std::uint64_t place, const Part& part) { return place < part.begin; });
    const Part& part = *std::prev(behind);
    if (part.back == 0) return part.number;
    // Jumps to before the stretch, however often it repeats itself.
    const std::uint64_t times = (at - part.begin) / part.back + 1;
    at -= times * part.back;
  }
}

std::vector<LoopSequence::Stretch> LoopSequence::stretches() const {
  std::vector<Stretch> all;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    const std::uint64_t end = i + 1 < parts_.size() ? parts_[i + 1].begin : size_;
    if (part.back == 0)
      all.push_back({0, 0, loops_[part.number]});
    else
      all.push_back({part.back, end - part.begin, 0});
  }
  return all;
}

bool is_sequence(const std::vector<LoopSequence::Stretch>& stretches, std::uint64_t loops) {
  std::uint64_t at = 0;
  for (const auto& stretch : stretches) {
    const bool repeats = stretch.count > 0;
    if (repeats && (stretch.back == 0 || stretch.back > at)) return false;
    const std::uint64_t count = repeats ? stretch.count : 1;
    if (count > loops - at) return false;
    at += count;
  }
  return at == loops;
}

}  // namespace perdure::track
