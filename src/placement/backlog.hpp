#pragma once
// What chunks that wait on a slower tier for their flush do to the end of a checkpoint. Pure.
#include "placement/decision.hpp"

namespace perdure::placement {

/// Against waiting for the fastest tier with every one of these chunks.
struct Backlog {
  double sooner_s = 0;  ///< the local phase ends: each chunk is one less that waits for a flush
  double later_s = 0;   ///< the store has everything: it runs dry while the last of them are still being read
};

/// When the last chunk is placed, `chunks` lie on `tier` and `top`, the fastest one, is full. The flush rate must be
/// known.
///
/// From then on the flushes read both at once (flush_order.hpp). While `top` has something the store is busy; what is
/// read until then costs nothing. Then the tier is read alone, as fast as it can be, and the store waits for it. Few
/// chunks are read by few at once, and so more slowly; those that are read together end together, so that the last of
/// all threads' chunks go to the store when nothing else is left: so much less of `top` covers them.
Backlog backlog(const View& view, const TierState& tier, const TierState& top, std::uint64_t chunks);

/// So many seconds later for every second that the local phase ends sooner are accepted. A tier that reads more slowly
/// than the store takes gets no more than half of all chunks, so that the store has everything at most 2 % later.
inline constexpr double kLaterForSooner = 0.04;
inline bool worth_it(const Backlog& expected) { return expected.later_s <= kLaterForSooner * expected.sooner_s; }

}  // namespace perdure::placement
