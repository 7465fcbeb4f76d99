#pragma once
// Where a checkpoint would be smallest: every loop is a candidate, and what a checkpoint there would save follows from
// the loops behind it. Learnt over a stretch of the run, and anew when the program changes its ways. Pure.
// (Section 5.2 of "Automatic checkpointing of structured-mesh codes"; by liveness instead of trials.)
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "track/access.hpp"
#include "track/box_set.hpp"
#include "track/loop_sequence.hpp"

namespace perdure::track {

/// What a checkpoint before one loop would save.
struct Cost {
  std::uint64_t bytes = 0;
  std::uint64_t boxes = 0;  ///< that these are in
  friend auto operator<=>(const Cost&, const Cost&) = default;
};

/// Of a loop behind which scratch is read that was written before it: no checkpoint can begin there.
inline constexpr Cost kNoPlace{~std::uint64_t{0}, ~std::uint64_t{0}};

/// A place, wherever it was in the stretch.
struct Candidate {
  LoopId place = 0;
  std::uint64_t first = 0;  ///< where it came first
  std::uint64_t times = 0;  ///< that it came, and its cost is known
  std::uint64_t gap = 0;    ///< the most loops between two of them, or the stretch's ends
  Cost least, most;
};

/// Tells the calls of one loop within a time step apart, as the stages of a Runge-Kutta step are: each is a place of
/// its own, called by the loop and its number since the time step began. That is where `first` is called.
class CallsInStep {
 public:
  /// Without `first` all calls of a loop are one place.
  explicit CallsInStep(std::optional<LoopId> first = std::nullopt) : first_(first) {}
  /// Of the next loop. kNowhere where no time step has begun yet.
  LoopId place(LoopId loop);
  static constexpr LoopId kNowhere = 0;

 private:
  struct Count {
    std::uint64_t step = 0, calls = 0;
  };
  std::optional<LoopId> first_;
  std::uint64_t step_ = 0;
  std::unordered_map<LoopId, Count> counts_;
};

class Places {
 public:
  explicit Places(std::size_t most_loops = 4096) : most_loops_(most_loops) {}
  /// The next loop of the run; nothing once it is full.
  void record(LoopId id, std::span<const Access> accesses);
  /// From here on places are what that says of the stretch; before, each loop is one.
  void tell_apart(CallsInStep& calls);
  /// Loops with which a time step may begin: of each number of times that one is called, those that are called more
  /// often first.
  std::vector<LoopId> firsts() const;
  /// The longest stretch at the end that is the same as what came just before it, in its places and in what its loops
  /// read and write: so many loops of a program in equal time steps. 0: there is none.
  std::size_t repeats() const;
  /// Of these the fewest that come again and again: one time step. 0: there is none.
  std::size_t period() const;
  bool full() const { return ids_.size() >= most_loops_; }
  std::size_t size() const { return ids_.size(); }
  LoopId loop(std::size_t at) const { return ids_[at]; }
  LoopId place(std::size_t at) const { return places_[at]; }
  /// Takes so many loops from here on; not fewer than there are.
  void take(std::size_t most_loops) { most_loops_ = std::max(most_loops, ids_.size()); }
  void clear();
  /// Of each recorded loop, for who declared these data sets and had written so much of them. Nothing where the stretch
  /// ends too soon to tell.
  using Costs = std::vector<std::optional<Cost>>;
  Costs costs(std::span<const DataSet> sets, std::span<const BoxSet> written) const;
  /// All that a checkpoint at this place would save, wherever it was in the stretch: of each data set. Nothing where
  /// the stretch ends too soon to tell.
  std::optional<std::vector<BoxSet>> saved_before(LoopId place, std::span<const DataSet> sets,
                                                  std::span<const BoxSet> written) const;
  /// The places, in the order in which they came first.
  std::vector<Candidate> candidates(const Costs& costs) const;

 private:
  std::vector<std::size_t> same_at_the_end() const;
  std::span<const Access> accesses_of(std::size_t loop) const;
  template <class Take>
  void each_known(std::span<const BoxSet> written, const Take& take) const;
  std::size_t most_loops_;
  std::vector<LoopId> ids_, places_;
  std::vector<std::uint64_t> does_;  // what each loop does, hashed
  std::vector<std::size_t> ends_;    // of the loops' accesses
  std::vector<Access> accesses_;
};

/// The one whose dearest checkpoint is the cheapest, of those that come again within half of `stretch` loops. Nothing
/// when none does.
std::optional<Candidate> cheapest(std::span<const Candidate> candidates, std::uint64_t stretch);

}  // namespace perdure::track
