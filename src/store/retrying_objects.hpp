#pragma once
// Repeats calls on objects that failed for a reason that passes. Pauses grow and are drawn at random (full jitter,
// after "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
#include <functional>

#include "store/objects.hpp"

namespace perdure::store {

struct RetryPolicy {
  std::uint32_t most_tries = 8;  ///< of a call, the first one included
  std::uint64_t first_pause_ns = 50'000'000, most_pause_ns = 5'000'000'000;
};

/// How long to wait behind failed try `tried` (from 1). `random`: any number. Pure.
std::uint64_t pause_ns(const RetryPolicy& policy, std::uint32_t tried, std::uint64_t random);

/// Returns objects that repeat calls of `real`. A repeated conditional put may meet its own first try, whose answer was
/// lost. Then it says PERDURE_EXISTS, and its caller looks at what is there. `pause` gets nanoseconds.
std::shared_ptr<Objects> retrying(std::shared_ptr<Objects> real, const RetryPolicy& policy,
                                  std::function<void(std::uint64_t)> pause);

}  // namespace perdure::store
