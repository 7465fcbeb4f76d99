#include "process/tree_order.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

namespace perdure::process {
namespace {

/// A process inherits its session when it is made, unless it begins one. So a parent makes children of its old session
/// before it begins its own.
class TreeOrder {
 public:
  explicit TreeOrder(const std::vector<Kin>& kin) : kin_(kin), born_in_(kin.size()), children_(kin.size()) {}

  base::Result<std::vector<TreeStep>> find() {
    for (std::size_t i = 0; i < kin_.size(); ++i) at_.try_emplace(kin_[i].number, i);
    if (at_.size() != kin_.size()) return refused(kin_[0].number, "there are two of a number");
    for (std::size_t i = 1; i < kin_.size(); ++i) {
      const auto parent = at_.find(kin_[i].parent);
      if (parent == at_.end() || parent->second >= i) return refused(kin_[i].number, "its parent is not one of them");
      children_[parent->second].push_back(i);
    }
    for (std::size_t i = kin_.size(); i-- > 0;) PERDURE_CHECK(find_birth(i));
    if (born_in_[0] && at_.contains(*born_in_[0]))
      return refused(kin_[0].number, "it is in a session that another of them began");
    make(0);
    PERDURE_CHECK(add_groups());
    return std::move(steps_);
  }

 private:
  static tl::unexpected<base::Error> refused(std::int32_t process, const std::string& why) {
    return base::fail(PERDURE_UNSUPPORTED, "process " + std::to_string(process), why,
                      "start it in a session of its own (setsid), and capture the leader of that");
  }
  bool leads_session(std::size_t i) const { return kin_[i].session == kin_[i].number; }

  base::Status find_birth(std::size_t i) {
    if (!leads_session(i)) born_in_[i] = kin_[i].session;
    for (const std::size_t child : children_[i]) {
      const auto needed = born_in_[child];
      if (!needed || *needed == kin_[i].session) continue;
      if (born_in_[i] && *born_in_[i] != *needed)
        return refused(kin_[child].number, "it is in a session that it did not get from its parent");
      born_in_[i] = needed;
    }
    return {};
  }

  void make(std::size_t i) {
    if (i > 0) steps_.push_back({TreeStep::What::make, i});
    const auto is_early = [&](std::size_t child) {
      return leads_session(i) && born_in_[child] && *born_in_[child] != kin_[i].session;
    };
    for (const std::size_t child : children_[i])
      if (is_early(child)) make(child);
    if (leads_session(i)) steps_.push_back({TreeStep::What::lead_session, i});
    for (const std::size_t child : children_[i])
      if (!is_early(child)) make(child);
  }

  // Leaders come first, because a group exists only once its leader has made it.
  base::Status add_groups() {
    std::optional<std::int32_t> outside;
    for (std::size_t i = 0; i < kin_.size(); ++i)
      if (kin_[i].group == kin_[i].number && !leads_session(i)) steps_.push_back({TreeStep::What::lead_group, i});
    for (std::size_t i = 0; i < kin_.size(); ++i) {
      const auto leader = at_.find(kin_[i].group);
      if (leader != at_.end() && leader->second == i) continue;
      const std::string its = "it is in group " + std::to_string(kin_[i].group) + ", ";
      if (leader == at_.end()) {
        if (at_.contains(kin_[i].session) || (outside && *outside != kin_[i].group))
          return refused(kin_[i].number, its + "whose leader has ended, or is not captured with it");
        outside = kin_[i].group;
        continue;
      }
      const Kin& leads = kin_[leader->second];
      if (leads.group != leads.number || leads.session != kin_[i].session)
        return refused(kin_[i].number, its + "whose leader has left it");
      steps_.push_back({TreeStep::What::join_group, i});
    }
    return {};
  }

  const std::vector<Kin>& kin_;
  std::vector<std::optional<std::int32_t>> born_in_;  // the session at the making; nothing: any
  std::vector<std::vector<std::size_t>> children_;
  std::map<std::int32_t, std::size_t> at_;  // by number
  std::vector<TreeStep> steps_;
};

}  // namespace

base::Result<std::vector<TreeStep>> order_of_tree(const std::vector<Kin>& kin) {
  if (kin.empty()) return std::vector<TreeStep>();
  return TreeOrder(kin).find();
}

}  // namespace perdure::process
