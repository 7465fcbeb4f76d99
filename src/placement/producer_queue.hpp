#pragma once
// The producers that wait for a slot, served in order of arrival (VeloC IPDPS'19, Algorithm 2: the queue Q). Pure. Only
// the head may be given a slot: a producer ahead gets the best slot before those behind, so that none starves. Each
// producer stands in it once, so that it never holds more than there are ranks.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>

namespace perdure::placement {

using Producer = std::uint64_t;

class ProducerQueue {
 public:
  /// False, and nothing changes, when the producer waits already (a request that was sent again).
  bool enqueue(Producer producer) { return add(producer, false); }
  /// At the head: a write that failed keeps its turn.
  bool enqueue_first(Producer producer) { return add(producer, true); }

  std::optional<Producer> head() const {
    return waiting_.empty() ? std::nullopt : std::optional<Producer>(waiting_.front());
  }
  /// The head got its slot.
  void served() {
    if (!waiting_.empty()) waiting_.pop_front();
  }
  /// The producer died or gave up. False when it did not wait.
  bool remove(Producer producer) { return std::erase(waiting_, producer) > 0; }

  std::size_t size() const { return waiting_.size(); }
  bool empty() const { return waiting_.empty(); }
  /// How many stand before it; nothing when it does not wait.
  std::optional<std::size_t> position(Producer producer) const {
    const auto it = std::find(waiting_.begin(), waiting_.end(), producer);
    return it == waiting_.end() ? std::nullopt : std::optional<std::size_t>(it - waiting_.begin());
  }

 private:
  bool add(Producer producer, bool first) {
    if (position(producer)) return false;
    waiting_.insert(first ? waiting_.begin() : waiting_.end(), producer);
    return true;
  }
  std::deque<Producer> waiting_;
};

}  // namespace perdure::placement
