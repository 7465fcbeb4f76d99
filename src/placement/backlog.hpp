#pragma once
// Predicts how chunks that wait on a slower tier for their flush move the end of a checkpoint. Pure.
#include "placement/decision.hpp"

namespace perdure::placement {

/// The difference to waiting for the fastest tier with every one of these chunks.
struct Backlog {
  double sooner_s = 0;  ///< the local phase ends: each chunk is one less that waits for a flush
  double later_s = 0;   ///< the store has everything: it idles while the last of them are still being read
};

/// Predicts for the moment when the last chunk is placed, `chunks` lie on `tier`, and `top`, the fastest tier, is full.
/// The flush rate must be known.
///
/// From then on flushes read both at once (flush_order.hpp). While `top` has content the store is busy, and reads of
/// the tier cost nothing. Then the tier is read alone, as fast as it can be, and the store waits for it. Few chunks are
/// read by few threads, and so more slowly. Chunks that are read together end together: the last chunks of all threads
/// go to the store when nothing else is left. So many chunks of `top` fewer hide the reads.
Backlog backlog(const View& view, const TierState& tier, const TierState& top, std::uint64_t chunks);

/// Accepts so many seconds later for every second that the local phase ends sooner. A tier that reads more slowly than
/// the store writes gets at most half of all chunks. So the store has everything at most 2 % later.
inline constexpr double kLaterForSooner = 0.04;
inline bool worth_it(const Backlog& expected) { return expected.later_s <= kLaterForSooner * expected.sooner_s; }

}  // namespace perdure::placement
