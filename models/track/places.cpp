#include "track/places.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace perdure::track {
namespace {

// FNV-1a over numbers.
std::uint64_t hash_of(std::span<const Access> accesses) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto mix = [&](std::uint64_t number) { hash = (hash ^ number ^ number >> 29U) * 0x100000001b3ULL; };
  const auto mix_box = [&](const Box& box) {
    mix(box.dimensions);
    for (unsigned d = 0; d < box.dimensions; ++d) {
      mix(static_cast<std::uint64_t>(box.begin[d]));
      mix(static_cast<std::uint64_t>(box.end[d]));
    }
  };
  for (const Access& access : accesses) {
    mix(access.set * 4 + static_cast<std::uint64_t>(access.mode));
    if (access.does_read()) mix_box(access.read);
    if (access.does_write()) mix_box(access.written);
  }
  return hash;
}

/// Goes backwards through the loops. Divides all written elements into three kinds. Some are read before they
/// are written again, some are overwritten first, and some are touched by no later loop.
class Future {
 public:
  explicit Future(std::span<const BoxSet> written) : written_(written), read_(written.size()), idle_(written.size()) {
    for (std::size_t i = 0; i < written.size(); ++i) idle_[i] = written[i];
  }
  /// Prepends a loop, whose reads come before its writes.
  void precede(std::span<const Access> accesses) {
    for (const Access& access : accesses)
      if (access.does_write()) {
        read_[access.set].remove(access.written);
        idle_[access.set].remove(access.written);
      }
    for (const Access& access : accesses)
      if (access.does_read()) {
        for (const Box& box : written_[access.set].boxes()) read_[access.set].add(intersection(box, access.read));
        idle_[access.set].remove(access.read);
      }
  }
  const std::vector<BoxSet>& idle() const { return idle_; }
  void add_to(std::vector<BoxSet>& saved, std::span<const DataSet> sets) const {
    for (std::size_t i = 0; i < written_.size(); ++i) {
      if (sets[i].scratch) continue;
      for (const Box& box : read_[i].boxes()) saved[i].add(box);
      for (const Box& box : idle_[i].boxes()) saved[i].add(box);
    }
  }
  Cost cost(std::span<const DataSet> sets) const {
    Cost sum;
    for (std::size_t i = 0; i < written_.size(); ++i) {
      if (sets[i].scratch && !read_[i].empty()) return kNoPlace;
      if (sets[i].scratch) continue;
      sum.bytes += (read_[i].elements() + idle_[i].elements()) * sets[i].element_bytes;
      sum.boxes += read_[i].boxes().size() + idle_[i].boxes().size();
    }
    return sum;
  }

 private:
  std::span<const BoxSet> written_;
  std::vector<BoxSet> read_, idle_;
};

}  // namespace

LoopId CallsInStep::place(LoopId loop) {
  if (!first_) return loop;
  if (loop == *first_) ++step_;
  if (step_ == 0) return kNowhere;
  constexpr std::uint64_t kMost = 64;  // a solver's iterations: all further calls are one place
  Count& count = counts_[loop];
  if (count.step != step_) count = {step_, 0};
  const std::uint64_t call = std::min(count.calls++, kMost);
  return loop + call * 0x9e3779b97f4a7c15ULL;
}

void Places::tell_apart(CallsInStep& calls) {
  for (std::size_t i = 0; i < ids_.size(); ++i) places_[i] = calls.place(ids_[i]);
}

std::vector<LoopId> Places::firsts() const {
  std::unordered_map<LoopId, std::uint64_t> times;
  for (const LoopId id : ids_) ++times[id];
  std::map<std::uint64_t, LoopId, std::greater<>> by_times;
  for (const LoopId id : ids_)
    if (times[id] > 1) by_times.emplace(times[id], id);
  std::vector<LoopId> firsts;
  for (const auto& [often, id] : by_times) firsts.push_back(id);
  return firsts;
}

void Places::record(LoopId id, std::span<const Access> accesses) {
  if (full()) return;
  ids_.push_back(id);
  places_.push_back(id);
  does_.push_back(hash_of(accesses));
  accesses_.insert(accesses_.end(), accesses.begin(), accesses.end());
  ends_.push_back(accesses_.size());
}

void Places::clear() {
  ids_.clear();
  places_.clear();
  does_.clear();
  ends_.clear();
  accesses_.clear();
}

// For each number of loops from the end backwards, returns how many loops before them equal those at the end (the Z
// algorithm).
std::vector<std::size_t> Places::same_at_the_end() const {
  const std::size_t size = ids_.size();
  const auto at = [&](std::size_t back) { return std::pair(places_[size - 1 - back], does_[size - 1 - back]); };
  std::vector<std::size_t> same(size);
  std::size_t left = 0, right = 0;
  for (std::size_t i = 1; i < size; ++i) {
    if (i < right) same[i] = std::min(right - i, same[i - left]);
    while (i + same[i] < size && at(same[i]) == at(i + same[i])) ++same[i];
    if (i + same[i] > right) left = i, right = i + same[i];
  }
  return same;
}

std::size_t Places::repeats() const {
  const auto same = same_at_the_end();
  std::size_t longest = 0;
  for (std::size_t i = 1; i < same.size(); ++i)
    if (same[i] >= i) longest = i;
  return longest;
}

// Everything that the longest stretch and the one before it cover is made of the period.
std::size_t Places::period() const {
  const auto same = same_at_the_end();
  const std::size_t covers = 2 * repeats();
  for (std::size_t i = 1; i <= covers / 2; ++i)
    if (i + same[i] >= covers) return i;
  return 0;
}

std::span<const Access> Places::accesses_of(std::size_t loop) const {
  const std::size_t begin = loop == 0 ? 0 : ends_[loop - 1];
  return std::span(accesses_).subspan(begin, ends_[loop] - begin);
}

// Calls `take` with each place that can be judged and with its future, from the last place on. A place can be judged if
// the stretch touches behind it each element that it touches at all.
template <class Take>
void Places::each_known(std::span<const BoxSet> written, const Take& take) const {
  std::vector<BoxSet> never(written.begin(), written.end());
  for (const Access& access : accesses_) {
    if (access.does_read()) never[access.set].remove(access.read);
    if (access.does_write()) never[access.set].remove(access.written);
  }
  Future future(written);
  bool known = future.idle() == never;
  for (std::size_t i = ids_.size(); i-- > 0;) {
    future.precede(accesses_of(i));
    known = known || future.idle() == never;
    if (known) take(i, future);
  }
}

Places::Costs Places::costs(std::span<const DataSet> sets, std::span<const BoxSet> written) const {
  Costs costs(ids_.size());
  each_known(written, [&](std::size_t loop, const Future& future) { costs[loop] = future.cost(sets); });
  return costs;
}

std::optional<std::vector<BoxSet>> Places::saved_before(LoopId place, std::span<const DataSet> sets,
                                                        std::span<const BoxSet> written) const {
  std::optional<std::vector<BoxSet>> saved;
  each_known(written, [&](std::size_t at, const Future& future) {
    if (places_[at] != place) return;
    if (!saved) saved.emplace(sets.size());
    future.add_to(*saved, sets);
  });
  return saved;
}

std::vector<Candidate> Places::candidates(const Costs& costs) const {
  std::vector<Candidate> all;
  std::vector<std::uint64_t> latest;
  std::unordered_map<LoopId, std::size_t> numbers;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i] == CallsInStep::kNowhere) continue;
    const auto [known, is_new] = numbers.emplace(places_[i], all.size());
    if (is_new) {
      all.push_back({places_[i], i, 0, 0, {}, {}});
      latest.push_back(0);
    }
    Candidate& one = all[known->second];
    one.gap = std::max<std::uint64_t>(one.gap, i - latest[known->second]);
    latest[known->second] = i;
    if (!costs[i]) continue;
    one.least = one.times == 0 ? *costs[i] : std::min(one.least, *costs[i]);
    one.most = one.times == 0 ? *costs[i] : std::max(one.most, *costs[i]);
    ++one.times;
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i].gap = std::max<std::uint64_t>(all[i].gap, ids_.size() - latest[i]);
  return all;
}

std::optional<Candidate> cheapest(std::span<const Candidate> candidates, std::uint64_t stretch) {
  const Candidate* best = nullptr;
  for (const Candidate& one : candidates)
    if (one.times > 0 && one.most != kNoPlace && one.gap <= stretch / 2 && (best == nullptr || one.most < best->most))
      best = &one;
  return best == nullptr ? std::nullopt : std::optional(*best);
}

}  // namespace perdure::track
