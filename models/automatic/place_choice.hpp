#pragma once
// Chooses the place where a checkpoint of this run is smallest, and what it saves there. Learns both from a stretch of
// the run's loops, and again when the loops change. The choice is the same on all ranks. Pure.
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

/// Measures how long a request has waited for a place, in loops and in time steps. A step is over when the loop at
/// which the wait began recurs; this needs nothing learnt.
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
  /// Learns from `learns` loops, or from up to kLonger times as many if these do not contain a time step twice. If
  /// `before` is not "", only loops of that name are places.
  static constexpr std::uint64_t kLonger = 8;
  /// `only`: names of the data sets that are saved; empty: all.
  PlaceChoice(std::uint64_t learns, std::string before, std::vector<std::string> only = {});

  /// Records the next loop. `between`: a run can continue from there. `waiting`: a request waits for a place, and all
  /// that was written could be saved.
  void loop(const track::Tracker& tracker, track::LoopId id, std::string_view name,
            std::span<const track::Access> accesses, bool between, bool waiting);
  /// Whether the next loop is the place. It is any possible place if no loop recurs often enough and a request has
  /// waited for two time steps.
  bool is_place(std::string_view name, bool between) const;
  /// Returns all written elements that later loops need at the place, or null if the prediction is not reliable enough.
  const std::vector<track::BoxSet>* foreseen(const track::Tracker& tracker, const std::vector<track::BoxSet>& written);
  /// Discards what was learnt, because it was wrong.
  void learn_anew();
  /// Notes a checkpoint. If there is no place, later loops may have one.
  void made() {
    if (none_ && learnt_.size() >= kLonger * learns_) learn_anew();
  }
  /// A request waits for a place longer than that may take.
  bool is_late() const { return wait_.steps() > Wait::kMostSteps || wait_.loops() > kMostLoops; }
  /// Returns the number of loops in a time step, as far as known.
  std::uint64_t step() const { return step_; }
  /// Returns true once after each stretch, when report() has more to say.
  bool news();
  /// Returns the report without its name and the size of the state.
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
  std::vector<bool> between_;  // one entry per loop of the stretch
  std::map<track::LoopId, std::string> names_;
  track::CallsInStep calls_;
  track::LoopId here_ = 0;
  std::optional<track::Candidate> chosen_;
  bool none_ = false;      // no loop recurs often enough
  bool believed_ = false;  // the stretch is complete, and has its last part twice
  bool news_ = false;
  static constexpr std::uint64_t kShortStep = 64;
  static constexpr std::uint64_t kMostLoops = 64;  // limit of a wait in which no loop recurs
  std::uint64_t step_ = kShortStep;
  std::optional<std::vector<track::BoxSet>> needed_;  // the boxes needed of each set, and written at that time
  std::optional<std::vector<track::BoxSet>> needed_of_;
  Wait wait_;
};

}  // namespace perdure::automatic
