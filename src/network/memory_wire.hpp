#pragma once
// Connects wires inside one process, for tests and studies, with seeded faults. The fate of the n-th message from one
// end to another follows from seed, ends and n alone, so that a failing seed fails again.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "network/wire.hpp"

namespace perdure::network {

/// Probabilities per message, delays in ns. One-sided transfers, which real wires carry reliably, are only delayed and
/// cut.
struct Faults {
  double lose = 0;
  double duplicate = 0;
  double corrupt = 0;  ///< one to four flipped bits
  double reorder = 0;  ///< delayed by up to `reorder_ns`
  std::uint64_t reorder_ns = 2'000'000;
  std::uint64_t delay_ns = 0;  ///< of every message, at most
};

/// The fate of one message.
struct Fate {
  bool lost = false;
  int copies = 1;
  std::uint64_t delay_ns[2] = {0, 0};
  std::uint64_t flips[4] = {};  ///< random numbers that choose the bits
  int flip_count = 0;
};
Fate decide_fate(const Faults& faults, std::uint64_t seed, std::uint64_t from, std::uint64_t to, std::uint64_t number);

class MemoryEnd;

/// The network. Thread-safe; its wires share it, so that it outlives their use.
class MemoryFabric : public std::enable_shared_from_this<MemoryFabric> {
 public:
  static std::shared_ptr<MemoryFabric> make(std::uint64_t seed = 1, Faults faults = {});
  std::unique_ptr<Wire> make_wire();
  /// Ends are named by their wires' address().
  void cut(ConstByteSpan a, ConstByteSpan b);
  void cut_off(ConstByteSpan end);  ///< from everybody
  void heal();                      ///< all cuts
  void slow_down(ConstByteSpan end, std::uint64_t delay_ns);
  void kill(ConstByteSpan end);                         ///< receives and sends nothing any more
  std::uint64_t messages() const { return messages_; }  ///< sent so far

 private:
  friend class MemoryWire;
  explicit MemoryFabric(std::uint64_t seed, const Faults& faults) : seed_(seed), faults_(faults) {}
  std::shared_ptr<MemoryEnd> find(std::uint64_t id);
  void detach(std::uint64_t id);
  bool carries(std::uint64_t from, std::uint64_t to) const;  // caller locks
  /// Sets how long a transfer between these takes; false if they are cut.
  bool route(std::uint64_t from, std::uint64_t to, std::uint64_t& delay_ns);
  void deliver(std::uint64_t from, std::uint64_t to, ConstByteSpan message);

  std::mutex mutex_;
  const std::uint64_t seed_;
  const Faults faults_;
  std::uint64_t next_id_ = 1;
  std::map<std::uint64_t, std::shared_ptr<MemoryEnd>> ends_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> numbers_;  // numbers of messages by from, to
  std::set<std::pair<std::uint64_t, std::uint64_t>> cuts_;
  std::set<std::uint64_t> cut_off_, dead_;
  std::map<std::uint64_t, std::uint64_t> slow_;
  std::atomic<std::uint64_t> messages_{0};
};

}  // namespace perdure::network
