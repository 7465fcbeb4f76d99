#pragma once
// Simulates one node: writers, the queue, tiers, flush threads, and its way to the store. It decides with the engine's
// policies. Knows no clock: advance(t) is called with the time of its next event, or earlier.
#include <deque>
#include <unordered_map>
#include <vector>

#include "device/shared_device.hpp"
#include "metrics/flush_rate.hpp"
#include "placement/flush_order.hpp"
#include "placement/producer_queue.hpp"
#include "simulate/scenario.hpp"

namespace perdure::simulate {

class Node {
 public:
  /// `models` has one per tier, and must outlive the node. `number` makes its random numbers differ from those of other
  /// nodes.
  Node(const Scenario& scenario, const std::vector<placement::DeviceModel>& models, Decide decide,
       std::uint64_t number);

  void advance(double now_s);
  double next_event_s() const;  ///< infinity: no event will ever happen again
  bool done() const { return stored_ == total_; }
  std::uint64_t stored_chunks() const { return stored_; }
  bool uses_store() const { return !store_.idle(); }
  /// Sets the share of the store that the other nodes leave to this one, bytes/s.
  void limit_store(double now_s, double bytes_per_s) { store_.limit(now_s, bytes_per_s); }
  const Outcome& outcome() const { return outcome_; }
  /// For reports of a deadlock.
  std::string state() const;

 private:
  struct Job {
    bool write = false;
    placement::Producer producer = 0;
    metrics::FlushRate::Started flush;
  };
  struct Tier {
    device::SharedDevice device;
    placement::TierState state;
    std::uint64_t pending = 0;  // written, not being flushed
    double read_bytes_per_s = 0;
    std::unordered_map<device::StreamId, Job> jobs;
  };
  struct Flush {
    std::size_t tier = 0;
    metrics::FlushRate::Started started;
  };
  struct Flushes {
    std::unordered_map<device::StreamId, Flush> storing;  // writing to the store
    std::deque<Flush> read;                               // chunks that were read and wait for a stream to the store
    unsigned reading = 0;                                 // streams that flushes read from tiers
    std::deque<std::size_t> pending;                      // tiers of chunks to be flushed, in the order of writing
    metrics::FlushRate rate;
  };
  struct Writers {
    placement::ProducerQueue queue;
    std::vector<std::uint64_t> left;                              // by writer: chunks that it has not written
    std::vector<double> asked_s;                                  // when each waiting writer asked
    std::deque<std::pair<double, placement::Producer>> arrivals;  // first requests, in order of time
  };
  struct Change {  // of a tier's health
    double time_s;
    std::size_t tier;
    bool failed;
  };

  void add_tiers(const Scenario& scenario, const std::vector<placement::DeviceModel>& models, std::uint64_t seed);
  bool step(double now_s);
  void request(double now_s, placement::Producer producer, bool first);
  void assign(double now_s);
  void start_flushes(double now_s);
  std::optional<std::size_t> next_tier_to_flush();
  void written(const device::Completion& completion, std::size_t tier, const Job& job);
  void read_done(const device::Completion& completion, std::size_t tier, const Job& job);
  void start_storing(double now_s);
  void stored(const device::Completion& completion);
  void free_slot(placement::TierState& tier);
  placement::View view(double now_s);

  Decide decide_;
  double chunk_bytes_;
  unsigned threads_;
  FlushOrder order_;
  std::vector<Tier> tiers_;
  std::vector<placement::TierState> states_;  // the input of policies; refreshed by view()
  device::SharedDevice store_;
  Flushes flushes_;
  Writers writers_;
  std::deque<Change> changes_;
  std::uint64_t total_ = 0, unplaced_ = 0, stored_ = 0;
  Outcome outcome_;
};

}  // namespace perdure::simulate
