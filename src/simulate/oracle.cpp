#include "simulate/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>

#include "placement/choices.hpp"

namespace perdure::simulate {
namespace {

using placement::Decision;
using placement::Reason;
using placement::View;

struct Limit {
  unsigned writers = 0;
  std::uint64_t chunks = 0;
};
using Plan = std::vector<Limit>;  // per tier; the first is ignored

Decide follow(const Plan& plan) {
  auto placed = std::make_shared<std::vector<std::uint64_t>>(plan.size(), 0);
  return [plan, placed](const View& view) -> Decision {
    for (std::size_t i = 0; i < view.tiers.size(); ++i) {
      if (!placement::usable(view.tiers[i])) continue;
      if (i > 0 && (view.tiers[i].writers >= plan[i].writers || (*placed)[i] >= plan[i].chunks)) continue;
      ++(*placed)[i];
      return placement::take(view, i, Reason::first_with_room);
    }
    return placement::wait_or_take_any(view, {std::nullopt, Reason::wait_flush_faster, 0, 0, 0, 0});
  };
}

std::string describe(const Scenario& scenario, const Plan& plan) {
  std::string text;
  for (std::size_t i = 1; i < plan.size(); ++i) {
    const double all = static_cast<double>(scenario.writers) * scenario.chunks;
    text += (text.empty() ? "" : "; ") + scenario.node.tiers[i].name + ": at most " + std::to_string(plan[i].writers) +
            " writers, " + std::to_string(std::lround(100 * static_cast<double>(plan[i].chunks) / all)) +
            " % of the chunks";
  }
  return text.empty() ? "the only tier" : text;
}

std::vector<Limit> candidates(const Scenario& scenario) {
  const std::uint64_t all = std::uint64_t{scenario.writers} * scenario.chunks;
  std::vector<Limit> limits{{0, 0}};
  for (unsigned writers : {1U, 2U, 4U, 8U, 12U, 16U, 24U, 32U, 64U, 128U, 256U}) {
    if (writers > scenario.writers) break;
    for (std::uint64_t part : {1U, 2U, 3U, 4U, 6U, 8U, 16U, 32U, 64U})
      if (all / part > 0) limits.push_back({writers, all / part});
  }
  return limits;
}

/// Keeps every outcome, as the best depends on the earliest completion of all.
class Contest {
 public:
  void enter(Outcome outcome, std::string plan) {
    earliest_s_ = entries_.empty() ? outcome.flush_completion_s : std::min(earliest_s_, outcome.flush_completion_s);
    entries_.push_back({std::move(outcome), std::move(plan), 0});
  }
  Hindsight best() const {
    const auto rank = [this](const Hindsight& entry) {
      return std::pair(entry.outcome.flush_completion_s > 1.01 * earliest_s_, entry.outcome.local_phase_s);
    };
    Hindsight result = *std::min_element(entries_.begin(), entries_.end(),
                                         [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    result.simulated = static_cast<unsigned>(entries_.size());
    return result;
  }

 private:
  std::vector<Hindsight> entries_;
  double earliest_s_ = 0;
};

}  // namespace

base::Result<Hindsight> oracle(const Scenario& scenario, const Stored& stored) {
  Contest contest;
  for (const auto& policy : placement::policies()) {
    if (std::string_view(policy.name) == "cache-only") continue;  // its cache is larger than the real one
    PERDURE_TRY(Outcome outcome, run(scenario, policy, stored));
    contest.enter(std::move(outcome), policy.name);
  }
  Plan plan(scenario.node.tiers.size());
  for (std::size_t tier = 1; tier < plan.size(); ++tier) {  // one after the other, the faster ones first
    Contest of_tier;
    const auto limits = candidates(scenario);
    for (std::size_t i = 0; i < limits.size(); ++i) {
      plan[tier] = limits[i];
      PERDURE_TRY(Outcome outcome, run(
                                       scenario, [&plan] { return follow(plan); }, stored));
      of_tier.enter(outcome, std::to_string(i));
      contest.enter(std::move(outcome), describe(scenario, plan));
    }
    plan[tier] = limits[std::stoul(of_tier.best().plan)];
  }
  return contest.best();
}

}  // namespace perdure::simulate
