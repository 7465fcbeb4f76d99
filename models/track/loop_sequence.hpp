#pragma once
// Which loops a program ran, in their order: what repeats is kept once, so that a million time steps need as much room
// as one. A restart compares what it runs with it, and says where they part. Pure.
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
  /// What is kept: loops as they came, and stretches that are as earlier ones.
  struct Stretch {
    std::uint64_t back = 0;   ///< the same as so many loops before, where `count` > 0
    std::uint64_t count = 0;  ///< so many of them
    LoopId loop = 0;          ///< or this one
    friend bool operator==(const Stretch&, const Stretch&) = default;
  };
  /// All of it, in order; the last one may still grow.
  std::vector<Stretch> stretches() const;
  /// Loop number `at`, counted from 0; at < size().
  LoopId operator[](std::uint64_t at) const { return loops_[number_at(at)]; }
  /// The loop so many before the next one; 1 to size().
  LoopId before(std::uint64_t back) const { return loops_[number_before(back)]; }

 private:
  static constexpr std::uint64_t kRecent = 1U << 15U;
  std::uint32_t number_at(std::uint64_t at) const;
  std::uint32_t number_before(std::uint64_t back) const;

  // Loops have small numbers, in the order in which they came first.
  std::vector<LoopId> loops_;
  std::unordered_map<LoopId, std::uint32_t> numbers_;
  std::vector<std::uint64_t> latest_;  // where each came last
  struct Part {
    std::uint64_t begin = 0;  // of the sequence
    std::uint64_t back = 0;   // 0: one loop as it is
    std::uint32_t number = 0;
  };
  std::vector<Part> parts_;
  std::vector<std::uint32_t> recent_;  // numbers of the last kRecent loops, so that append() need not search
  std::uint64_t size_ = 0;
};

/// Whether these are stretches of a sequence of so many loops.
bool is_sequence(const std::vector<LoopSequence::Stretch>& stretches, std::uint64_t loops);

/// Goes through stretches that are a sequence, loop by loop, without making one of them: what repeats is found in the
/// sequence so far, which is the same.
class LoopReplay {
 public:
  explicit LoopReplay(std::vector<LoopSequence::Stretch> stretches = {}) : stretches_(std::move(stretches)) {}
  /// Before the end.
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
  std::uint64_t done_ = 0;  // of the stretch
};

}  // namespace perdure::track
