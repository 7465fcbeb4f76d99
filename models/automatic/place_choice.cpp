#include "automatic/place_choice.hpp"

#include <algorithm>
#include <utility>

namespace perdure::automatic {
namespace {

using track::BoxSet;
using track::Candidate;
using track::LoopId;

std::vector<BoxSet> written_of(const track::Tracker& tracker) {
  std::vector<BoxSet> written;
  for (track::SetId set = 0; set < tracker.sets().size(); ++set) written.push_back(tracker.written(set));
  return written;
}

}  // namespace

PlaceChoice::PlaceChoice(std::uint64_t learns, std::string before, std::vector<std::string> only)
    : learns_(learns), before_(std::move(before)), only_(std::move(only)), learnt_(learns) {}

// An early choice rests on few loops and need not be the best. A checkpoint there is complete all the same, because it
// puts aside what later loops read.
void PlaceChoice::loop(const track::Tracker& tracker, LoopId id, std::string_view name,
                       std::span<const track::Access> accesses, bool between, bool waiting) {
  const std::uint64_t steps = wait_.steps();
  wait_.loop(id, waiting);
  if (chosen_ && learnt_.full() && wait_.loops() > 2 * std::max<std::uint64_t>(chosen_->gap, 1))
    learn_anew();  // the program's loops have changed
  here_ = calls_.place(id);
  if (learnt_.full()) return;
  names_.emplace(id, name);
  learnt_.record(id, accesses);
  between_.push_back(between);
  const std::size_t size = learnt_.size();
  const bool a_step_more = wait_.steps() > steps && wait_.steps() < Wait::kMostSteps;
  if (a_step_more && !believed_) step_ = wait_.loops() - 1;
  if (!learnt_.full() && !a_step_more && !(waiting && size >= kMostLoops && (size & (size - 1)) == 0)) return;
  choose(tracker);
  here_ = learnt_.place(size - 1);
  if (!learnt_.full()) return;
  none_ = !chosen_;
  believed_ = learnt_.repeats() >= size / 4;
  step_ = believed_ ? learnt_.period() : kShortStep;
  news_ = true;
  // Tries again soon: the stretch may end just after a rare loop.
  if (!believed_ && size < kLonger * learns_) learnt_.take(size + size / 4 + 1);
}

void PlaceChoice::learn_anew() {
  learnt_.clear();
  learnt_.take(learns_);
  between_.clear();
  calls_ = track::CallsInStep();
  chosen_.reset();
  needed_of_.reset();
  names_.clear();
  none_ = believed_ = false;
}

// Before a stretch is learnt, the limit is the number of loops that a first choice takes. Afterwards it is twice the
// distance between occurrences of the place. A loop that recurs may be an iteration within a time step, so a
// recurrence alone does not end the wait.
bool PlaceChoice::waited_long() const {
  if (chosen_ && learnt_.size() >= learns_) return wait_.loops() > 2 * std::max<std::uint64_t>(chosen_->gap, 1);
  return !learnt_.full() && (wait_.steps() >= Wait::kMostSteps || wait_.loops() > kMostLoops);
}

// Returns the places between a loop and its answer.
std::set<LoopId> PlaceChoice::never() const {
  std::set<LoopId> never;
  for (std::size_t i = 0; i < learnt_.size(); ++i)
    if (!between_[i]) never.insert(learnt_.place(i));
  return never;
}

std::vector<Candidate> PlaceChoice::possible(const track::Places::Costs& costs) const {
  const auto never = this->never();
  auto candidates = learnt_.candidates(costs);
  std::erase_if(candidates, [&](const Candidate& one) {
    const bool allowed = before_.empty() || names_.at(learnt_.loop(one.first)) == before_;
    return !allowed || never.count(one.place) > 0 || one.most == track::kNoPlace;
  });
  return candidates;
}

// A data set that is not saved must not be needed, like scratch.
std::vector<track::DataSet> PlaceChoice::judged(const track::Tracker& tracker) const {
  auto sets = tracker.sets();
  if (only_.empty()) return sets;
  for (auto& set : sets) set.scratch = set.scratch || std::find(only_.begin(), only_.end(), set.name) == only_.end();
  return sets;
}

// Tells calls of one loop apart if that makes the checkpoint smaller, with the shortest time step that does so. A rare
// place makes requests wait.
void PlaceChoice::choose(const track::Tracker& tracker) {
  const auto costs = learnt_.costs(judged(tracker), written_of(tracker));
  std::optional<Candidate> best;
  std::optional<LoopId> best_first;
  const auto consider = [&](std::optional<LoopId> first) {
    track::CallsInStep calls(first);
    learnt_.tell_apart(calls);
    const auto one = track::cheapest(possible(costs), learnt_.size());
    if (!one || (best && best->most <= one->most)) return;
    best = one;
    best_first = first;
  };
  consider(std::nullopt);
  for (const LoopId first : learnt_.firsts()) consider(first);
  calls_ = track::CallsInStep(best_first);
  learnt_.tell_apart(calls_);
  chosen_ = best;
  needed_of_.reset();
}

bool PlaceChoice::is_place(std::string_view name, bool between) const {
  if (!between) return false;
  if (waited_long()) return before_.empty() || name == before_;
  if (chosen_) return chosen_->place == here_;
  if (!before_.empty()) return name == before_;
  return none_;
}

// Predicts for the elements that are written by now. Early in a run these are more than when the place was chosen.
const std::vector<BoxSet>* PlaceChoice::foreseen(const track::Tracker& tracker, const std::vector<BoxSet>& written) {
  if (!believed_ || !chosen_ || here_ != chosen_->place) return nullptr;
  if (needed_of_ != written) {
    needed_ = learnt_.saved_before(chosen_->place, tracker.sets(), written);
    needed_of_ = written;
  }
  return needed_ ? &*needed_ : nullptr;
}

bool PlaceChoice::news() { return std::exchange(news_, false); }

track::Report PlaceChoice::report(const track::Tracker& tracker) const {
  track::Report report;
  const auto written = written_of(tracker);
  const auto costs = learnt_.costs(judged(tracker), written);
  const auto possible = this->possible(costs);
  const auto is_possible = [&](const Candidate& one) {
    return std::any_of(possible.begin(), possible.end(), [&](const auto& other) { return other.place == one.place; });
  };
  for (const auto& one : learnt_.candidates(costs))
    report.loops.push_back({names_.at(learnt_.loop(one.first)), one.first, one.times, one.least, one.most,
                            is_possible(one), chosen_ && one.place == chosen_->place});
  if (chosen_)
    if (const auto saved = learnt_.saved_before(chosen_->place, tracker.sets(), written))
      report.sets = track::explained(tracker.sets(), written, *saved);
  const std::size_t step = learnt_.period(), begin = costs.size() - 2 * step;
  for (std::size_t i = begin; i < begin + step; ++i)
    report.step.push_back({names_.at(learnt_.loop(i)), costs[i] ? std::optional(costs[i]->bytes) : std::nullopt});
  return report;
}

}  // namespace perdure::automatic
