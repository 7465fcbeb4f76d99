#pragma once
// Knows the other members of this node's group: their names for people, and whose engine is gone. Thread-safe.
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "ipc/messages.hpp"
#include "network/address.hpp"

namespace perdure::engine {

class GroupMembers {
 public:
  /// The members of this launch; none of them is lost yet.
  void join(const ipc::Join& join, std::uint64_t now_ns);
  /// Returns the node of the member that the network knows as `peer`; nullopt if there is none.
  std::optional<std::string> node_of(const std::string& peer) const;
  void lost(const std::string& peer, const base::Error& why);
  /// Returns why something that needs all members cannot happen: an engine was lost and has not come back, or never
  /// came. `connected`: there is a session with the engine at this address.
  std::optional<base::Error> missing(const std::function<bool(base::ConstByteSpan address)>& connected,
                                     std::uint64_t now_ns);

 private:
  struct Member {
    std::string node;
    network::Bytes address;
    std::optional<base::Error> lost;
  };
  mutable std::mutex mutex_;
  std::map<std::string, Member> by_peer_;
  std::uint64_t joined_ns_ = 0;
};

}  // namespace perdure::engine
