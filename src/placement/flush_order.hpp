#pragma once
// Chooses the tier from which the next chunk is flushed. Pure.
#include <cstdint>
#include <optional>
#include <span>

namespace perdure::placement {

/// The chunks to flush on one tier, in configured order.
struct FlushQueue {
  std::uint64_t pending = 0;    ///< chunks written and not yet being flushed
  unsigned readers = 0;         ///< flushes reading from it now
  double read_bytes_per_s = 0;  ///< its aggregate read rate (bytes/s), to predict the time; 0: unknown
};

/// Returns the most of `threads` threads that may read from one tier while others have chunks, too. An eighth (at least
/// one) is kept from a tier, which would keep them from the store.
unsigned most_readers(unsigned threads);

/// Returns how many flushes may be under way, reading or storing, if `threads` may read and as many may store. While
/// slots are wanted, few more run than store. Reading far ahead of a busy store would only take bandwidth from ranks
/// that write to the slow tier.
unsigned most_under_way(unsigned threads, bool slots_wanted);

/// Slots are wanted if producers wait, or the checkpoint has chunks to come. Then it returns the first tier with
/// pending chunks, because they wait for its slots. Otherwise returns the tier that takes longest to empty, so that it
/// does not end last, with most_readers(). Nothing if nothing is pending.
std::optional<std::size_t> next_to_flush(std::span<const FlushQueue> tiers, bool slots_wanted, unsigned threads);

}  // namespace perdure::placement
