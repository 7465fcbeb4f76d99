#pragma once
// Makes growing pauses between two requests, up to a time limit. Private to the client.
#include <algorithm>

#include "os/system.hpp"

namespace perdure::parity {

class Pauses {
 public:
  explicit Pauses(std::uint64_t limit_ns) : begin_ns_(os::monotonic_ns()), limit_ns_(limit_ns) {}
  /// Pauses; returns false, at once, if the limit is over.
  bool pause() {
    const std::uint64_t passed = os::monotonic_ns() - begin_ns_;
    if (passed >= limit_ns_) return false;
    os::sleep_ns(std::min(pause_ns_, limit_ns_ - passed));
    pause_ns_ = std::min<std::uint64_t>(pause_ns_ + pause_ns_ / 4, kLongest);
    return true;
  }
  /// Records progress: the limit begins again.
  void progress() { begin_ns_ = os::monotonic_ns(); }

 private:
  static constexpr std::uint64_t kShortest = 100'000, kLongest = 20'000'000;
  std::uint64_t begin_ns_;
  const std::uint64_t limit_ns_;
  std::uint64_t pause_ns_ = kShortest;
};

}  // namespace perdure::parity
