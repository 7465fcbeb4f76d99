#pragma once
// Records which loops a program ran, in order. Repeated stretches are stored once, so that a million time steps need as
// much room as one. A restart compares its loops with the record, and reports where they diverge. Pure.
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "track/access.hpp"

namespace perdure::track {

class LoopSequence {
 public:
  void append(LoopId loop);
  std::uint64_t size() const { return size_; }
  /// One entry of the record: a loop, or a stretch that repeats earlier ones.
  struct Stretch {
    std::uint64_t back = 0;   ///< the stretch equals the loops `back` before, if `count` > 0
    std::uint64_t count = 0;  ///< length of the stretch in loops
    LoopId loop = 0;          ///< the loop, if `count` is 0
    friend bool operator==(const Stretch&, const Stretch&) = default;
  };
  /// Returns the whole record, in order; the last entry may still grow.
  std::vector<Stretch> stretches() const;
  /// Returns loop number `at`, counted from 0; at < size().
  LoopId operator[](std::uint64_t at) const { return loops_[number_at(at)]; }
  /// Returns the loop that came `back` loops before the next one; 1 <= back <= size().
  LoopId before(std::uint64_t back) const { return loops_[number_before(back)]; }

 private:
  static constexpr std::uint64_t kRecent = 1U << 15U;
  std::uint32_t number_at(std::uint64_t at) const;
  std::uint32_t number_before(std::uint64_t back) const;

  // Loops have small numbers, in the order of their first calls.
  std::vector<LoopId> loops_;
  std::unordered_map<LoopId, std::uint32_t> numbers_;
  std::vector<std::uint64_t> latest_;  // the latest place of each loop
  struct Part {
    std::uint64_t begin = 0;  // place in the sequence
    std::uint64_t back = 0;   // 0: a single loop
    std::uint32_t number = 0;
  };
  std::vector<Part> parts_;
  std::vector<std::uint32_t> recent_;  // numbers of the last kRecent loops, so that append() need not search
  std::uint64_t size_ = 0;
};

/// Whether these stretches form a sequence of `loops` loops.
bool is_sequence(const std::vector<LoopSequence::Stretch>& stretches, std::uint64_t loops);

/// Goes through the stretches of a sequence loop by loop, without expanding them. It finds repeated loops in the
/// sequence so far, which is the same.
class LoopReplay {
 public:
  explicit LoopReplay(std::vector<LoopSequence::Stretch> stretches = {}) : stretches_(std::move(stretches)) {}
  /// Must not be called at the end.
  LoopId next(const LoopSequence& so_far) const {
    const auto& stretch = stretches_[at_];
    return stretch.count == 0 ? stretch.loop : so_far.before(stretch.back);
  }
  void advance() {
    if (stretches_[at_].count == 0 || ++done_ == stretches_[at_].count) ++at_, done_ = 0;
  }

 private:
  std::vector<LoopSequence::Stretch> stretches_;
  std::size_t at_ = 0;
  std::uint64_t done_ = 0;  // loops of the current stretch
};

}  // namespace perdure::track
