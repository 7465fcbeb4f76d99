#pragma once
// Draws a random job for random_losses_test: its scheme, and for each life the nodes of the ranks, the kill and the
// lost nodes. The job follows from the seed and from the outcomes of earlier lives.
#include <random>
#include <set>
#include <string>
#include <vector>

#include "os/crash_point.hpp"
#include "redundancy/registry.hpp"

namespace perdure::test_support {

/// One launch.
struct Life {
  std::vector<int> nodes;  ///< by number; the first `per_node` ranks are on the first, and so on
  int per_node = 1;
  std::string crash;  ///< the point at which `victim` dies; empty: none
  int victim = 0;
  std::vector<bool> checkpoints;  ///< for each: whether to wait for level node
  bool waits_for_restored = false;
};

class RandomJob {
 public:
  explicit RandomJob(unsigned seed) : random_(seed) {
    const auto pick = [&](const std::vector<const char*>& from) { return from[below(from.size())]; };
    scheme_ = *redundancy::find_scheme(pick({"partner", "buddy", "xor", "xor", "reed-solomon", "reed-solomon"}));
    m_ = redundancy::parities(*scheme_, 1 + static_cast<unsigned>(below(2)));
    daemon_ = below(4) == 0;
    moves_ = below(2) == 0;
    per_node_ = 1 + static_cast<int>(below(2));
    const unsigned least = redundancy::group_limits(*scheme_, m_)->min_size;
    const std::size_t count = least + below(7 - least);
    group_size_ = least + static_cast<unsigned>(below(count + 1 - least));
    for (std::size_t i = 0; i < count; ++i) nodes_.push_back(spare());
    ranks_ = per_node_ * static_cast<int>(count);
    early_ = pick({"auto", "always", "always", "never"});
  }
  int ranks() const { return ranks_; }
  bool daemon() const { return daemon_; }
  std::string options() const {
    return "redundancy.scheme=" + std::string(scheme_->name) + ";redundancy.parities=" + std::to_string(m_) +
           ";redundancy.group_size=" + std::to_string(group_size_) + ";redundancy.during_capture=" + early_;
  }
  static std::string options(const Life& life) {
    std::string numbers;
    for (const int node : life.nodes) numbers += (numbers.empty() ? "" : ",") + std::to_string(node);
    return ";node.ranks_per_node=" + std::to_string(life.per_node) + ";node.numbers=" + numbers;
  }

  /// Returns the nodes' groups; none if there are too few nodes.
  std::vector<std::vector<int>> groups(const std::vector<int>& nodes) const {
    const std::vector<redundancy::Domains> alone(nodes.size());
    const auto plan = redundancy::plan_groups(alone, group_size_, *redundancy::group_limits(*scheme_, m_));
    std::vector<std::vector<int>> groups;
    if (!plan) return groups;
    for (const auto& group : plan->groups)
      for (auto& numbers = groups.emplace_back(); const auto node : group) numbers.push_back(nodes[node]);
    return groups;
  }
  /// Whether the scheme survives if, of `nodes` that had a version at level node, only those in `left` remain.
  bool survives(const std::vector<int>& nodes, const std::set<int>& left) const {
    for (const auto& group : groups(nodes)) {
      redundancy::Positions lost;
      for (std::size_t p = 0; p < group.size(); ++p) lost[p] = !left.contains(group[p]);
      if (!scheme_->survives(static_cast<unsigned>(group.size()), m_, lost)) return false;
    }
    return true;
  }

  Life next_life() {
    Life life;
    if (moves_ && below(2) == 0) std::shuffle(nodes_.begin(), nodes_.end(), random_);
    const auto places = static_cast<int>(nodes_.size());
    life.per_node = (ranks_ + places - 1) / places;
    life.nodes.assign(nodes_.begin(), nodes_.begin() + (ranks_ + life.per_node - 1) / life.per_node);
    for (auto left = 1 + below(3); left > 0; --left) life.checkpoints.push_back(below(3) > 0);
    life.waits_for_restored = below(2) == 0;
    if (below(2) == 0) life.crash = crash();
    life.victim = static_cast<int>(below(static_cast<std::size_t>(ranks_)));
    return life;
  }
  /// Draws the nodes that are lost after that life: usually as many as the scheme survives, sometimes one more.
  std::set<int> next_losses(const Life& life) {
    std::set<int> lost;
    for (auto group : groups(life.nodes)) {
      std::shuffle(group.begin(), group.end(), random_);
      const auto count = below(scheme_->losses(static_cast<unsigned>(group.size()), m_) + 1) + (below(8) == 0 ? 1 : 0);
      lost.insert(group.begin(), group.begin() + static_cast<std::ptrdiff_t>(std::min(count, group.size())));
    }
    return lost;
  }
  /// Draws where the job continues: on spares, on the same nodes, which are empty now, or on the remaining ones.
  void replace(const std::set<int>& lost) {
    const auto how = below(moves_ ? 3 : 2);
    for (int& node : nodes_)
      if (how == 1 && lost.contains(node)) node = spare();
    if (how == 2) std::erase_if(nodes_, [&](int node) { return lost.contains(node); });
    const std::size_t least = how == 2 && below(2) == 0 ? 2 : static_cast<std::size_t>(ranks_ / per_node_);
    while (nodes_.size() < least) nodes_.push_back(spare());
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }
  int spare() { return next_number_++; }
  // A rank dies there, and its engine too if that is embedded.
  std::string crash() {
    const bool redundancy = !daemon_ && below(3) > 0;
    for (;;) {
      const auto& point = os::kCrashPoints[below(os::kCrashPoints.size())];
      if (point.role == (redundancy ? "redundancy" : daemon_ || below(2) == 0 ? "rank" : "engine"))
        return std::string(point.name) + ":" + std::to_string(1 + below(2));
    }
  }

  std::mt19937 random_;
  const redundancy::Scheme* scheme_ = nullptr;
  unsigned m_ = 0, group_size_ = 0;
  bool daemon_ = false;
  std::string early_;
  bool moves_ = false;  ///< ranks that run elsewhere
  int ranks_ = 0, per_node_ = 1, next_number_ = 0;
  std::vector<int> nodes_;
};

}  // namespace perdure::test_support
