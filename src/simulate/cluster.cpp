#include "simulate/cluster.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "placement/sampling.hpp"
#include "simulate/node.hpp"

namespace perdure::simulate {
namespace {

using base::fail;
using base::Result;

constexpr unsigned kMinCalibrated = 256;

class Cluster {
 public:
  Cluster(const Scenario& scenario, const std::vector<placement::DeviceModel>& models, const MakeDecide& make_decide)
      : scenario_(scenario) {
    const unsigned count = std::min(scenario.nodes, scenario.max_simulated);
    stands_for_ = static_cast<double>(scenario.nodes) / count;
    nodes_.reserve(count);
    for (unsigned i = 0; i < count; ++i) nodes_.emplace_back(scenario, models, make_decide(), i);
    next_.assign(count, 0);
    using_.assign(count, false);
    for (std::size_t i = 0; i < count; ++i) schedule(i);
  }

  Result<Outcome> run(const Stored& stored) {
    while (!events_.empty()) {
      const auto [time_s, index] = events_.top();
      events_.pop();
      if (time_s != next_[index]) continue;  // it has been rescheduled
      const std::uint64_t before = nodes_[index].stored_chunks();
      nodes_[index].advance(time_s);
      if (stored && nodes_[index].stored_chunks() > before) stored(nodes_[index].stored_chunks() - before);
      share_store(index, time_s);
      schedule(index);
    }
    for (const Node& node : nodes_)
      if (!node.done()) return fail(PERDURE_INTERNAL, "simulation", "a deadlock: " + node.state());
    return sum();
  }

 private:
  using Event = std::pair<double, std::size_t>;

  void schedule(std::size_t index) {
    next_[index] = nodes_[index].next_event_s();
    if (std::isfinite(next_[index])) events_.push({next_[index], index});
  }

  /// When a node starts or stops using the store, the shares of all users change.
  void share_store(std::size_t index, double now_s) {
    if (nodes_[index].uses_store() == using_[index]) return;
    using_[index] = !using_[index];
    active_ += using_[index] ? 1 : -1;
    const double share = device::share_of_store(scenario_.node, active_ * stands_for_);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!using_[i]) continue;
      nodes_[i].limit_store(now_s, share);
      if (i != index) schedule(i);
    }
  }

  Outcome sum() const {
    Outcome all;
    all.chunks.assign(scenario_.node.tiers.size(), 0);
    const auto scaled = [&](std::uint64_t count) {
      return static_cast<std::uint64_t>(std::llround(static_cast<double>(count) * stands_for_));
    };
    for (const Node& node : nodes_) {
      const Outcome& one = node.outcome();
      all.local_phase_s = std::max(all.local_phase_s, one.local_phase_s);
      all.flush_completion_s = std::max(all.flush_completion_s, one.flush_completion_s);
      for (std::size_t i = 0; i < all.chunks.size(); ++i) all.chunks[i] += one.chunks[i];
      all.waits += one.waits;
      all.waited_s += one.waited_s * stands_for_;
      all.failed_writes += one.failed_writes;
    }
    for (auto& count : all.chunks) count = scaled(count);
    all.waits = scaled(all.waits);
    all.failed_writes = scaled(all.failed_writes);
    return all;
  }

  const Scenario& scenario_;
  double stands_for_ = 1;
  std::vector<Node> nodes_;
  std::vector<double> next_;
  std::vector<bool> using_;
  int active_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace

Result<std::vector<placement::DeviceModel>> calibrate(const Scenario& scenario) {
  std::vector<placement::DeviceModel> models;
  const unsigned range = std::max(scenario.writers, kMinCalibrated);
  for (const auto& tier : scenario.node.tiers) {
    std::vector<placement::Sample> samples;
    for (unsigned writers : placement::counts_to_measure(range))
      samples.push_back({writers, tier.throughput.at(writers)});
    PERDURE_TRY(auto model, placement::DeviceModel::fit(samples, range));
    models.push_back(std::move(model));
  }
  return models;
}

Result<Outcome> run(const Scenario& scenario, const MakeDecide& make_decide, const Stored& stored) {
  PERDURE_CHECK(check(scenario));
  PERDURE_TRY(const auto models, calibrate(scenario));
  return Cluster(scenario, models, make_decide).run(stored);
}

Result<Outcome> run(const Scenario& scenario, const placement::Policy& policy, const Stored& stored) {
  return run(
      ideal_for(scenario, policy), [&policy] { return Decide(policy.decide); }, stored);
}

}  // namespace perdure::simulate
