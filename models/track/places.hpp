#pragma once
// Finds the loop before which a checkpoint would be smallest. Every loop is a candidate; the loops after it determine
// what a checkpoint there would save. Learns this over a stretch of the run, and again when the program's loops change.
// Pure. (Section 5.2 of "Automatic checkpointing of structured-mesh codes"; by liveness instead of trials.)
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

/// The cost of a checkpoint before one loop.
struct Cost {
  std::uint64_t bytes = 0;
  std::uint64_t boxes = 0;  ///< number of boxes that these bytes are in
  friend auto operator<=>(const Cost&, const Cost&) = default;
};

/// The cost of a loop at which no checkpoint can begin, because a later loop reads scratch that was written before it.
inline constexpr Cost kNoPlace{~std::uint64_t{0}, ~std::uint64_t{0}};

/// A place, summarised over all its occurrences in the stretch.
struct Candidate {
  LoopId place = 0;
  std::uint64_t first = 0;  ///< its first occurrence
  std::uint64_t times = 0;  ///< occurrences whose cost is known
  std::uint64_t gap = 0;    ///< the most loops between two occurrences, or to the stretch's ends
  Cost least, most;
};

/// Tells apart the calls of one loop within a time step, such as the stages of a Runge-Kutta step. Each call is a place
/// of its own: the loop, and the number of its call since the time step began. A time step begins where `first` is
/// called.
class CallsInStep {
 public:
  /// Without `first` all calls of a loop are one place.
  explicit CallsInStep(std::optional<LoopId> first = std::nullopt) : first_(first) {}
  /// Returns the place of the next loop, or kNowhere if no time step has begun yet.
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
  /// Records the next loop of the run; does nothing once the stretch is full.
  void record(LoopId id, std::span<const Access> accesses);
  /// From here on `calls` determines the places of the stretch; before, each loop is one place.
  void tell_apart(CallsInStep& calls);
  /// Returns loops that a time step may begin with, one for each call count: the first of those called so often. Higher
  /// counts come first.
  std::vector<LoopId> firsts() const;
  /// Returns the length in loops of the longest stretch at the end that equals the one just before it. Equal stretches
  /// have the same places, reads and writes, as in a program with equal time steps. 0: there is none.
  std::size_t repeats() const;
  /// Returns the length of the shortest such stretch, which is one time step. 0: there is none.
  std::size_t period() const;
  bool full() const { return ids_.size() >= most_loops_; }
  std::size_t size() const { return ids_.size(); }
  LoopId loop(std::size_t at) const { return ids_[at]; }
  LoopId place(std::size_t at) const { return places_[at]; }
  /// Sets how many loops to record; the limit never falls below size().
  void take(std::size_t most_loops) { most_loops_ = std::max(most_loops, ids_.size()); }
  void clear();
  /// Returns the cost before each recorded loop, given the declared data sets and what was written of them. An entry is
  /// empty if the stretch ends too soon to tell.
  using Costs = std::vector<std::optional<Cost>>;
  Costs costs(std::span<const DataSet> sets, std::span<const BoxSet> written) const;
  /// Returns the boxes of each data set that a checkpoint at this place would save, joined over all its occurrences.
  /// Returns nothing if the stretch ends too soon to tell.
  std::optional<std::vector<BoxSet>> saved_before(LoopId place, std::span<const DataSet> sets,
                                                  std::span<const BoxSet> written) const;
  /// Returns the places, in the order of their first occurrences.
  std::vector<Candidate> candidates(const Costs& costs) const;

 private:
  std::vector<std::size_t> same_at_the_end() const;
  std::span<const Access> accesses_of(std::size_t loop) const;
  template <class Take>
  void each_known(std::span<const BoxSet> written, const Take& take) const;
  std::size_t most_loops_;
  std::vector<LoopId> ids_, places_;
  std::vector<std::uint64_t> does_;  // hashes of the loops' accesses
  std::vector<std::size_t> ends_;    // where each loop's accesses end
  std::vector<Access> accesses_;
};

/// Returns the candidate with the lowest worst-case cost, of those that recur within half of `stretch` loops. Returns
/// nothing if none does.
std::optional<Candidate> cheapest(std::span<const Candidate> candidates, std::uint64_t stretch);

}  // namespace perdure::track
