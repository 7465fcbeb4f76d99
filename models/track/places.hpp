#pragma once
// Where a checkpoint would be smallest: every loop is a candidate, and what a checkpoint there would save follows from
// the loops behind it. Learnt over a stretch of the run, and anew when the program changes its ways. Pure.
// (Section 5.2 of "Automatic checkpointing of structured-mesh codes"; by liveness instead of trials.)
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "track/access.hpp"

namespace perdure::track {

/// What a checkpoint before one loop would save.
struct Cost {
  std::uint64_t bytes = 0;
  std::uint64_t boxes = 0;  ///< that these are in
  friend auto operator<=>(const Cost&, const Cost&) = default;
};

/// Of a loop behind which scratch is read that was written before it: no checkpoint can begin there.
inline constexpr Cost kNoPlace{~std::uint64_t{0}, ~std::uint64_t{0}};

/// A loop, wherever it was called in the stretch.
struct Candidate {
  LoopId loop = 0;
  std::uint64_t first = 0;  ///< where it came first
  std::uint64_t times = 0;  ///< that it came, and its cost is known
  std::uint64_t gap = 0;    ///< the most loops between two of them, or the stretch's ends
  Cost least, most;
};

class Places {
 public:
  explicit Places(std::size_t most_loops = 4096) : most_loops_(most_loops) {}
  /// The next loop of the run; nothing once it is full.
  void record(LoopId id, std::span<const Access> accesses);
  /// The longest stretch at the end that is the same as what came just before it: so many loops of a program in equal
  /// time steps. 0: there is none.
  std::size_t repeats() const;
  bool full() const { return ids_.size() >= most_loops_; }
  std::size_t size() const { return ids_.size(); }
  LoopId loop(std::size_t at) const { return ids_[at]; }
  void clear();
  /// Of each recorded loop, for who declared these data sets and had written so much of them. Nothing where the stretch
  /// ends too soon to tell.
  std::vector<std::optional<Cost>> costs(std::span<const DataSet> sets, std::span<const BoxSet> written) const;
  /// All that a checkpoint before this loop would save, wherever it was called in the stretch: of each data set.
  /// Nothing where the stretch ends too soon to tell.
  std::optional<std::vector<BoxSet>> saved_before(LoopId loop, std::span<const DataSet> sets,
                                                  std::span<const BoxSet> written) const;
  /// The loops, in the order in which they came first.
  std::vector<Candidate> candidates(std::span<const DataSet> sets, std::span<const BoxSet> written) const;

 private:
  std::span<const Access> accesses_of(std::size_t loop) const;
  template <class Take>
  void each_known(std::span<const BoxSet> written, const Take& take) const;
  std::size_t most_loops_;
  std::vector<LoopId> ids_;
  std::vector<std::size_t> ends_;  // of the loops' accesses
  std::vector<Access> accesses_;
};

/// The one whose dearest checkpoint is the cheapest, of those that come again within half of `stretch` loops. Nothing
/// when none does.
std::optional<LoopId> cheapest(std::span<const Candidate> candidates, std::uint64_t stretch);

}  // namespace perdure::track
