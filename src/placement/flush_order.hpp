#pragma once
// From which tier the next chunk is flushed. Pure.
#include <cstdint>
#include <optional>
#include <span>

namespace perdure::placement {

/// What there is to flush on one tier, in configured order.
struct FlushQueue {
  std::uint64_t pending = 0;    ///< chunks written and not yet being flushed
  unsigned readers = 0;         ///< flushes reading from it now
  double read_bytes_per_s = 0;  ///< its aggregate as far as known (bytes/s), for how long it will take; 0: unknown
};

/// The most of `threads` threads that read from one tier while others have chunks, too: an eighth (at least one) is
/// kept from it, as it would keep them from the store.
unsigned most_readers(unsigned threads);

/// How many flushes may be under way, reading or storing, when `threads` may read and as many may store. While slots
/// are wanted, few more than store: reading far ahead of a busy store would only take bandwidth from the ranks that
/// write to the slow tier.
unsigned most_under_way(unsigned threads, bool slots_wanted);

/// While slots are wanted (producers wait, or the checkpoint has chunks to come): the first tier with something
/// pending, as its slots are what they wait for. Otherwise the tier that takes longest to empty, so that it does not
/// end last, with most_readers(). Nothing when nothing is pending.
std::optional<std::size_t> next_to_flush(std::span<const FlushQueue> tiers, bool slots_wanted, unsigned threads);

}  // namespace perdure::placement
