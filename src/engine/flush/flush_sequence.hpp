#pragma once
// Decides in which order chunks are flushed. Plain state, not thread-safe.
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "placement/flush_order.hpp"

namespace perdure::engine {

class FlushSequence {
 public:
  /// `read_bytes_per_s`: each tier's read rate for all flushes together, as far as it is known.
  FlushSequence(std::vector<double> read_bytes_per_s, unsigned threads)
      : read_bytes_per_s_(std::move(read_bytes_per_s)), threads_(threads) {}

  /// Adds a chunk that can be flushed. `place`: its tier, or a number beyond all tiers if flushing it frees no slot.
  void add(std::size_t chunk, std::uint32_t place) {
    places_[place].push_back(chunk);
    place_of_[chunk] = place;
  }

  /// Returns the number of chunks that can be flushed and that no thread has begun.
  std::size_t size() const {
    std::size_t chunks = 0;
    for (const auto& [place, waiting] : places_) chunks += waiting.size();
    return chunks;
  }
  /// Returns the chunk to flush next, which counts as being flushed from now on; nullopt if none is left.
  /// `slots_wanted` as in placement::next_to_flush.
  std::optional<std::size_t> next(bool slots_wanted) {
    std::vector<placement::FlushQueue> queues;  // in the order of tiers
    std::vector<std::uint32_t> places;
    for (const auto& [place, chunks] : places_) {
      const double rate = place < read_bytes_per_s_.size() ? read_bytes_per_s_[place] : 0;
      queues.push_back({chunks.size(), readers_[place], rate});
      places.push_back(place);
    }
    const auto queue = placement::next_to_flush(queues, slots_wanted, threads_);
    if (!queue) return std::nullopt;
    auto& chunks = places_[places[*queue]];
    const std::size_t chunk = chunks.front();
    chunks.pop_front();
    reads(chunk, true);
    return chunk;
  }
  /// Notes whether the chunk's place is being read, which next() assumes. It is not while the chunk is being written to
  /// the store, nor afterwards.
  void reads(std::size_t chunk, bool reading) {
    if (reading == being_read_.contains(chunk)) return;
    auto& readers = readers_[place_of_.at(chunk)];
    if (reading) {
      ++readers;
      being_read_.insert(chunk);
    } else {
      --readers;
      being_read_.erase(chunk);
    }
  }

 private:
  std::vector<double> read_bytes_per_s_;
  unsigned threads_;
  std::map<std::uint32_t, std::deque<std::size_t>> places_;  // chunks that can be flushed
  std::set<std::size_t> being_read_;
  std::map<std::uint32_t, unsigned> readers_;      // by place
  std::map<std::size_t, std::uint32_t> place_of_;  // by chunk
};

}  // namespace perdure::engine
