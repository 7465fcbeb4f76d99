#pragma once
// Repeats calls on objects that failed for a reason that passes. Pauses grow and are drawn at random (full jitter,
// after "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
#include <functional>

#include "plan/backoff.hpp"
#include "store/objects.hpp"

namespace perdure::store {

/// When a store of objects repeats a call: for a minute. Then the flush or the restore decides.
inline constexpr plan::Backoff kUsualRetries{50'000'000, 5'000'000'000, 60'000'000'000};

/// Returns objects that repeat calls of `real`. A repeated conditional put may meet its own first try, whose answer was
/// lost. Then it says PERDURE_EXISTS, and its caller looks at what is there. `pause` gets nanoseconds.
std::shared_ptr<Objects> retrying(std::shared_ptr<Objects> real, const plan::Backoff& backoff,
                                  std::function<void(std::uint64_t)> pause);

}  // namespace perdure::store
