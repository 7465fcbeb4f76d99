#pragma once
// Finds standing sessions by their names. The endpoint's lock guards it.
#include <map>
#include <unordered_map>
#include <vector>

#include "network/peer.hpp"

namespace perdure::network {

class PeerTable {
 public:
  explicit PeerTable(const CallLimits& limits) : limits_(limits) {}
  std::size_t size() const { return peers_.size(); }
  std::vector<PeerPointer> all() const {
    std::vector<PeerPointer> list;
    for (const auto& [id, peer] : peers_) list.push_back(peer);
    return list;
  }
  /// These return nullptr if there is none.
  PeerPointer first() const { return peers_.empty() ? nullptr : peers_.begin()->second; }
  PeerPointer find(PeerId id) const { return in(peers_, id); }
  PeerPointer of_session(std::uint64_t number) const { return in(by_session_, number); }  ///< the number that we expect
  PeerPointer of_incarnation(std::uint64_t incarnation) const { return in(by_incarnation_, incarnation); }
  /// Adds a peer with a number of its own.
  PeerPointer add(Established session) {
    auto peer = std::make_shared<Peer>(next_++, std::move(session), limits_);
    peers_[peer->id] = peer;
    by_session_[peer->session.expects] = peer;
    by_incarnation_[peer->session.remote.incarnation] = peer;
    return peer;
  }
  /// Returns false if another thread removed it already.
  bool remove(const Peer& peer) {
    if (peers_.erase(peer.id) == 0) return false;
    by_session_.erase(peer.session.expects);
    by_incarnation_.erase(peer.session.remote.incarnation);
    return true;
  }

 private:
  template <class Map>
  static PeerPointer in(const Map& map, const typename Map::key_type& key) {
    const auto it = map.find(key);
    return it == map.end() ? nullptr : it->second;
  }

  const CallLimits limits_;
  PeerId next_ = 1;
  std::map<PeerId, PeerPointer> peers_;
  std::unordered_map<std::uint64_t, PeerPointer> by_session_;
  std::map<std::uint64_t, PeerPointer> by_incarnation_;
};

}  // namespace perdure::network
