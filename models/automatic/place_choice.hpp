#pragma once
// Where a checkpoint of this run is smallest, and what it needs there: learnt from the loops of a stretch of the run,
// and anew when the program turns to something else. The same on all ranks. Pure.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "track/places.hpp"
#include "track/report.hpp"
#include "track/tracker.hpp"

namespace perdure::automatic {

/// How long somebody has waited for a place, in loops and in time steps. A step is over when the loop at which the wait
/// began comes again: so much is known before anything is learnt.
class Wait {
 public:
  /// Steps after which any place is taken.
  static constexpr std::uint64_t kMostSteps = 2;
  void loop(track::LoopId id, bool waiting) {
    if (!waiting) {
      *this = {};
      return;
    }
    if (++loops_ == 1) began_at_ = id;
    if (loops_ > 1 && id == began_at_) ++steps_;
  }
  std::uint64_t loops() const { return loops_; }
  std::uint64_t steps() const { return steps_; }

 private:
  std::uint64_t loops_ = 0, steps_ = 0;
  track::LoopId began_at_ = 0;
};

class PlaceChoice {
 public:
  /// From so many loops, or up to kLonger times as many where these have no time step twice; and only before loops of
  /// this name unless it is "".
  static constexpr std::uint64_t kLonger = 8;
  /// `only`: names of the data sets that are saved, where not all are.
  PlaceChoice(std::uint64_t learns, std::string before, std::vector<std::string> only = {});

  /// The loop that comes next. `between`: a run can go on from there. `waiting`: for a place, and all that was written
  /// could be saved.
  void loop(const track::Tracker& tracker, track::LoopId id, std::string_view name,
            std::span<const track::Access> accesses, bool between, bool waiting);
  /// Whether it is the place. It is any place that may be one where no loop comes again often enough, and where
  /// somebody has waited for two time steps.
  bool is_place(std::string_view name, bool between) const;
  /// All that the place will need of what was written, where that is known well enough to be relied on.
  const std::vector<track::BoxSet>* foreseen(const track::Tracker& tracker, const std::vector<track::BoxSet>& written);
  /// What was learnt turned out to be wrong.
  void learn_anew();
  /// A checkpoint was made. Where there is no place, what comes behind it may have one.
  void made() {
    if (none_ && learnt_.size() >= kLonger * learns_) learn_anew();
  }
  /// Somebody waits for a place, longer than that may take.
  bool is_late() const { return wait_.steps() > Wait::kMostSteps || wait_.loops() > kMostLoops; }
  /// So many loops a time step has, as far as is known.
  std::uint64_t step() const { return step_; }
  /// Once after each stretch: report() says more than it did.
  bool news();
  /// But for its name and the size of the state.
  track::Report report(const track::Tracker& tracker) const;

 private:
  void choose(const track::Tracker& tracker);
  bool waited_long() const;
  std::vector<track::Candidate> possible(const track::Places::Costs& costs) const;
  std::set<track::LoopId> never() const;
  std::vector<track::DataSet> judged(const track::Tracker& tracker) const;

  std::uint64_t learns_;
  std::string before_;
  std::vector<std::string> only_;
  track::Places learnt_;
  std::vector<bool> between_;  // of the loops of the stretch
  std::map<track::LoopId, std::string> names_;
  track::CallsInStep calls_;
  track::LoopId here_ = 0;
  std::optional<track::Candidate> chosen_;
  bool none_ = false;      // of the loops comes again often enough
  bool believed_ = false;  // the stretch is whole, and has its last part twice
  bool news_ = false;
  static constexpr std::uint64_t kShortStep = 64;
  static constexpr std::uint64_t kMostLoops = 64;  // of a wait in which no loop comes again
  std::uint64_t step_ = kShortStep;
  std::optional<std::vector<track::BoxSet>> needed_;  // there, of each data set, of which this had been written
  std::optional<std::vector<track::BoxSet>> needed_of_;
  Wait wait_;
};

}  // namespace perdure::automatic
