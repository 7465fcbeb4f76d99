#include "track/loop_sequence.hpp"

#include <algorithm>

namespace perdure::track {

// A stretch goes on while the next loop is the one that came as long before; else the last place of that loop begins a
// new one.
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
    // Straight to before the stretch, however often it repeats itself.
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

std::optional<LoopSequence> LoopSequence::from(const std::vector<Stretch>& stretches, std::uint64_t most) {
  LoopSequence sequence;
  for (const Stretch& stretch : stretches) {
    const std::uint64_t begin = sequence.size_;
    if (stretch.count == 0) {
      if (begin >= most || sequence.numbers_.contains(stretch.loop)) return std::nullopt;
      sequence.append(stretch.loop);  // one that is new, so that what came before does not matter
      continue;
    }
    if (stretch.back == 0 || stretch.back > begin || stretch.count > most - begin) return std::nullopt;
    sequence.parts_.push_back({begin, stretch.back, 0});
    sequence.size_ = begin + stretch.count;
    // Where each loop came last: in the stretch's last turn, which has all of its loops. Of a longer one than anybody
    // wants to walk through, its end: what came before is only found a little later in the next stretch.
    const std::uint64_t turn = std::min({stretch.back, stretch.count, kRecent});
    for (std::uint64_t at = sequence.size_ - turn; at < sequence.size_; ++at)
      sequence.latest_[sequence.number_at(at)] = at;
  }
  sequence.recent_.resize(kRecent);
  for (std::uint64_t at = sequence.size_ - std::min(sequence.size_, kRecent); at < sequence.size_; ++at)
    sequence.recent_[at % kRecent] = sequence.number_at(at);
  return sequence;
}

}  // namespace perdure::track
