#pragma once
// Queues the producers that wait for a slot in order of arrival (VeloC IPDPS'19, Algorithm 2: the queue Q). Pure. Only
// the head may be given a slot: it gets the best slot before those behind, so that none starves. Each producer is in
// the queue at most once, so it never holds more than there are ranks.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>

namespace perdure::placement {

using Producer = std::uint64_t;

class ProducerQueue {
 public:
  /// Returns false, and changes nothing, if the producer waits already (a request that was sent again).
  bool enqueue(Producer producer) { return add(producer, false); }
  /// Puts it at the head: a write that failed keeps its turn.
  bool enqueue_first(Producer producer) { return add(producer, true); }

  std::optional<Producer> head() const {
    return waiting_.empty() ? std::nullopt : std::optional<Producer>(waiting_.front());
  }
  /// Removes the head, which got its slot.
  void served() {
    if (!waiting_.empty()) waiting_.pop_front();
  }
  /// Removes a producer that died or gave up; false if it did not wait.
  bool remove(Producer producer) { return std::erase(waiting_, producer) > 0; }

  std::size_t size() const { return waiting_.size(); }
  bool empty() const { return waiting_.empty(); }
  /// Returns how many are before it; nothing if it does not wait.
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
