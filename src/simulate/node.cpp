#include "simulate/node.hpp"

#include <algorithm>
#include <limits>

namespace perdure::simulate {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

std::uint64_t mix(std::uint64_t seed, std::uint64_t number) {
  return static_cast<std::uint64_t>(device::unit_hash(seed, number) * 0x1p53);
}

}  // namespace

Node::Node(const Scenario& scenario, const std::vector<placement::DeviceModel>& models, Decide decide,
           std::uint64_t number)
    : decide_(std::move(decide)),
      chunk_bytes_(static_cast<double>(scenario.chunk_bytes)),
      threads_(scenario.flush_threads),
      order_(scenario.order),
      store_(scenario.node.store, scenario.seed),  // all nodes have the same load of others on the store
      writers_{{},
               std::vector<std::uint64_t>(scenario.writers, scenario.chunks),
               std::vector<double>(scenario.writers, 0),
               {}},
      total_(std::uint64_t{scenario.writers} * scenario.chunks),
      unplaced_(total_) {
  const std::uint64_t seed = mix(scenario.seed, number + 1);
  add_tiers(scenario, models, seed);
  std::vector<std::pair<double, placement::Producer>> arrivals;
  for (unsigned i = 0; i < scenario.writers; ++i)
    arrivals.emplace_back(scenario.jitter_s * device::unit_hash(seed + 1, i), i);
  std::sort(arrivals.begin(), arrivals.end());
  writers_.arrivals.assign(arrivals.begin(), arrivals.end());
  for (const Failure& failure : scenario.failures) {
    changes_.push_back({failure.from_s, failure.tier, true});
    changes_.push_back({failure.until_s, failure.tier, false});
  }
  std::stable_sort(changes_.begin(), changes_.end(), [](const auto& a, const auto& b) { return a.time_s < b.time_s; });
  if (scenario.cold) return;
  const auto& store = scenario.node.store.throughput;
  flushes_.rate.assume(
      std::min(store.at(scenario.flush_threads), device::share_of_store(scenario.node, scenario.nodes)));
}

void Node::add_tiers(const Scenario& scenario, const std::vector<placement::DeviceModel>& models, std::uint64_t seed) {
  for (std::size_t i = 0; i < scenario.node.tiers.size(); ++i) {
    const auto& description = scenario.node.tiers[i];
    Tier tier{device::SharedDevice(description, mix(seed, 100 + i)), {}, 0, 0, {}};
    tier.state.slots = tier.state.free_slots = slots_of(scenario, description);
    tier.state.model = &models[i];
    tier.read_bytes_per_s = models[i].bytes_per_s(scenario.flush_threads);
    tiers_.push_back(std::move(tier));
  }
  outcome_.chunks.assign(tiers_.size(), 0);
}

double Node::next_event_s() const {
  double next = store_.next_event().value_or(kNever);
  for (const Tier& tier : tiers_) next = std::min(next, tier.device.next_event().value_or(kNever));
  if (!writers_.arrivals.empty()) next = std::min(next, writers_.arrivals.front().first);
  if (!changes_.empty() && !done()) next = std::min(next, changes_.front().time_s);
  return next;
}

void Node::advance(double now_s) {
  while (step(now_s)) {
  }
}

// Frees first, then places, so that a decision sees every event up to its time.
bool Node::step(double now_s) {
  bool happened = false;
  store_.advance(now_s);
  for (const auto& completion : store_.take_completed()) {
    stored(completion);
    happened = true;
  }
  for (std::size_t i = 0; i < tiers_.size(); ++i) {
    tiers_[i].device.advance(now_s);
    for (const auto& completion : tiers_[i].device.take_completed()) {
      const auto job = tiers_[i].jobs.extract(completion.stream);
      job.mapped().write ? written(completion, i, job.mapped()) : read_done(completion, i, job.mapped());
      happened = true;
    }
  }
  for (; !changes_.empty() && changes_.front().time_s <= now_s; changes_.pop_front())
    tiers_[changes_.front().tier].state.failed = changes_.front().failed;
  for (; !writers_.arrivals.empty() && writers_.arrivals.front().first <= now_s; writers_.arrivals.pop_front())
    request(now_s, writers_.arrivals.front().second, false);
  start_flushes(now_s);
  assign(now_s);
  return happened;
}

void Node::request(double now_s, placement::Producer producer, bool first) {
  writers_.asked_s[producer] = now_s;
  first ? writers_.queue.enqueue_first(producer) : writers_.queue.enqueue(producer);
}

placement::View Node::view(double now_s) {
  states_.clear();
  for (const Tier& tier : tiers_) states_.push_back(tier.state);
  return {states_,
          {flushes_.rate.bytes_per_s(), flushes_.rate.deviation_bytes_per_s(), threads_,
           flushes_.rate.next_end_s(now_s), flushes_.rate.sustained_bytes_per_s()},
          {writers_.queue.size(), unplaced_},
          static_cast<std::uint64_t>(chunk_bytes_)};
}

void Node::assign(double now_s) {
  while (const auto producer = writers_.queue.head()) {
    const auto decision = decide_(view(now_s));
    if (!decision.tier) return;
    writers_.queue.served();
    if (now_s > writers_.asked_s[*producer]) {
      ++outcome_.waits;
      outcome_.waited_s += now_s - writers_.asked_s[*producer];
    }
    Tier& tier = tiers_[*decision.tier];
    --tier.state.free_slots;
    ++tier.state.writers;
    ++tier.state.chunks_unflushed;
    ++tier.state.slots_to_come;
    --unplaced_;
    tier.jobs[tier.device.start(now_s, chunk_bytes_)] = {true, *producer, {}};
  }
}

void Node::free_slot(placement::TierState& tier) {
  ++tier.free_slots;
  --tier.chunks_unflushed;
  --tier.slots_to_come;
}

void Node::written(const device::Completion& completion, std::size_t tier, const Job& job) {
  placement::TierState& state = tiers_[tier].state;
  --state.writers;
  if (state.failed) {  // the producer keeps its turn
    ++outcome_.failed_writes;
    ++unplaced_;
    free_slot(state);
    request(completion.time_s, job.producer, true);
    return;
  }
  ++outcome_.chunks[tier];
  ++tiers_[tier].pending;
  flushes_.pending.push_back(tier);
  outcome_.local_phase_s = std::max(outcome_.local_phase_s, completion.time_s);
  if (--writers_.left[job.producer] > 0) request(completion.time_s, job.producer, false);
}

std::string Node::state() const {
  std::string text = std::to_string(stored_) + " of " + std::to_string(total_) + " chunks stored, " +
                     std::to_string(writers_.queue.size()) + " writers waiting";
  for (std::size_t i = 0; i < tiers_.size(); ++i)
    text += "; tier " + std::to_string(i) + ": " + std::to_string(tiers_[i].state.free_slots) + " of " +
            std::to_string(tiers_[i].state.slots) + " slots free";
  return text;
}

}  // namespace perdure::simulate
