#pragma once
// Collects the findings of one run's writers. Thread-safe.
#include <algorithm>
#include <mutex>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "simulate/scenario.hpp"

namespace perdure::studies {

class Findings {
 public:
  void began(std::uint64_t ns) {
    note([&] { began_ns_ = std::min(began_ns_, ns); });
  }
  void captured(std::uint64_t ns) {
    note([&] { captured_ns_ = std::max(captured_ns_, ns); });
  }
  void stored(std::uint64_t ns) {
    note([&] { stored_ns_ = std::max(stored_ns_, ns); });
  }
  void failed(const base::Error& error) {
    // The failed rank's error is more specific than those of its peers.
    note([&] {
      if (!error_ || error_->code == PERDURE_PEER_FAILED) error_ = error;
    });
  }
  void placed(const base::Result<std::vector<std::uint64_t>>& chunks) {
    if (!chunks) return failed(chunks.error());
    note([&] { before_.empty() ? before_ = *chunks : after_ = *chunks; });
  }
  base::Result<simulate::Outcome> outcome(double time_scale) const {
    if (error_) return base::fail(*error_);
    simulate::Outcome outcome;
    outcome.local_phase_s = static_cast<double>(captured_ns_ - began_ns_) * 1e-9 / time_scale;
    outcome.flush_completion_s = static_cast<double>(stored_ns_ - began_ns_) * 1e-9 / time_scale;
    for (std::size_t t = 0; t < after_.size(); ++t) outcome.chunks.push_back(after_[t] - before_[t]);
    return outcome;
  }

 private:
  template <class Change>
  void note(const Change& change) {
    std::lock_guard guard(mutex_);
    change();
  }
  std::mutex mutex_;
  std::optional<base::Error> error_;
  std::vector<std::uint64_t> before_, after_;
  std::uint64_t began_ns_ = ~0ULL, captured_ns_ = 0, stored_ns_ = 0;
};

}  // namespace perdure::studies
