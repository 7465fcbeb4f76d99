#include "engine/peers/group_members.hpp"

namespace perdure::engine {
namespace {

constexpr std::uint64_t kToCome_ns = 20'000'000'000;  // twice the time limit of one message to a member

}  // namespace

void GroupMembers::join(const ipc::Join& join, std::uint64_t now_ns) {
  std::lock_guard guard(mutex_);
  by_peer_.clear();
  joined_ns_ = now_ns;
  for (std::size_t i = 0; i < join.addresses.size(); ++i) {
    const auto address = network::decode_address(join.addresses[i]);
    if (!address || i == join.position) continue;
    const std::string name = address->text();
    by_peer_[name] = {i < join.nodes.size() ? join.nodes[i] : name, join.addresses[i], {}};
  }
}

std::optional<std::string> GroupMembers::node_of(const std::string& peer) const {
  std::lock_guard guard(mutex_);
  const auto member = by_peer_.find(peer);
  return member == by_peer_.end() ? std::nullopt : std::optional(member->second.node);
}

void GroupMembers::lost(const std::string& peer, const base::Error& why) {
  std::lock_guard guard(mutex_);
  if (const auto member = by_peer_.find(peer); member != by_peer_.end()) member->second.lost = why;
}

std::optional<base::Error> GroupMembers::missing(const std::function<bool(base::ConstByteSpan address)>& connected,
                                                 std::uint64_t now_ns) {
  std::lock_guard guard(mutex_);
  for (auto& [peer, member] : by_peer_) {
    if (connected(member.address)) {
      member.lost.reset();
      continue;
    }
    if (!member.lost && now_ns < joined_ns_ + kToCome_ns) continue;
    const std::string why = member.lost ? member.lost->cause : "it has not come since this launch began";
    return base::Error{PERDURE_UNAVAILABLE, "node " + member.node,
                       "its engine is gone, and level node needs it: " + why,
                       "wait again or go on: where the program still runs on that node, its next call starts the "
                       "engine again; where the node is gone, launch the job again without it",
                       true};
  }
  return std::nullopt;
}

}  // namespace perdure::engine
