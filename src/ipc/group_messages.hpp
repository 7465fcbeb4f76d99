#pragma once
// Clients send these messages to their engine about the other nodes of the job.
#include <algorithm>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "ipc/message.hpp"
#include "plan/lineage.hpp"
#include "segment/manifest.hpp"

namespace perdure::ipc {

struct NetworkAddress {
  std::vector<std::byte> address;  ///< for the Join of all engines
  PERDURE_FIELDS(address)
  std::string wrong() const { return address.size() <= 4096 ? "" : "field 'address' has more than 4096 bytes"; }
};
/// Sent by the leader: opens the network for engines that hold this key.
struct OpenNetwork {
  static constexpr const char* kName = "open_network";
  static constexpr Kind kKind = Kind::answered;
  using Reply = NetworkAddress;
  std::vector<std::byte> job_key;
  PERDURE_FIELDS(job_key)
  std::string wrong() const { return job_key.size() <= 64 ? "" : "field 'job_key' has more than 64 bytes"; }
};
/// Sent by the leader: the group of this node in this launch.
struct Join {
  static constexpr const char* kName = "join";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Done;
  std::uint64_t epoch = 0;
  std::uint32_t group = 0;
  std::uint32_t position = 0;
  std::vector<std::vector<std::byte>> addresses;  ///< by position
  std::vector<std::uint32_t> ranks = {};          ///< running on this node now
  std::vector<std::string> nodes = {};            ///< their names for people, by position; or none
  PERDURE_FIELDS(epoch, group, position, addresses, ranks, nodes)
  std::string wrong() const;
};

/// The recovered data of one rank.
struct RankRecovery {
  std::uint32_t rank = 0;
  std::uint64_t bytes_moved = 0;
  std::uint64_t bytes_rebuilt = 0;
  PERDURE_FIELDS(rank, bytes_moved, bytes_rebuilt)
};
struct Recovered {
  std::vector<RankRecovery> ranks;
  PERDURE_FIELDS(ranks)
};
/// An engine that has data for a recovery.
struct NodeToAsk {
  std::string node;                       ///< its name for people
  std::vector<std::byte> address;         ///< of its endpoint
  std::vector<std::uint32_t> pieces;      ///< ranks whose pieces it may have
  std::vector<std::uint32_t> redundancy;  ///< ranks whose groups it keeps redundancy blocks of
  PERDURE_FIELDS(node, address, pieces, redundancy)
  std::string wrong() const;
};
/// Fetches or rebuilds these ranks' pieces of a version into slots of this node. The sources are exports of these
/// nodes' engines (possibly this one) and of parity servers. Answered when the pieces are staged, or cannot be.
struct Recover {
  static constexpr const char* kName = "recover";
  static constexpr Kind kKind = Kind::may_wait;
  using Reply = Recovered;
  segment::VersionId id;
  std::uint32_t ranks = 0;
  std::vector<std::uint32_t> wanted;
  std::vector<NodeToAsk> nodes;
  PERDURE_FIELDS(id, ranks, wanted, nodes)
  std::string wrong() const;
};
/// The answer to ReplicateAgain. If nodes of a group differ in it, or neither field is true, only a new launch can
/// replicate the version. This launch's groups will not do so again.
struct ReplicatingAgain {
  bool kept = false;   ///< level `node` is reached, and this node has all of its part, which it keeps
  bool begun = false;  ///< the replication has begun
  PERDURE_FIELDS(kept, begun)
};
/// Brings this version, which all nodes hold, to level `node` (again, in the groups of this launch).
struct ReplicateAgain {
  static constexpr const char* kName = "replicate_again";
  static constexpr Kind kKind = Kind::answered;
  using Reply = ReplicatingAgain;
  segment::VersionId id;
  PERDURE_FIELDS(id)
};
struct Names {
  std::vector<std::string> names;
  PERDURE_FIELDS(names)
};
/// Asks for the names of versions of so many ranks (0: any number) that have redundancy here.
struct KeptNames {
  static constexpr const char* kName = "kept_names";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Names;
  std::uint32_t ranks = 0;
  PERDURE_FIELDS(ranks)
};
/// The store has a version of this name whole, so neither it nor older ones are needed to rebuild.
struct StoredName {
  std::string name;
  std::uint64_t attempt_ns = 0;
  bool used = false;  ///< by the launch that ends, so that versions with other rank counts belong to this job, too
  std::vector<plan::Branch> branches = {};  ///< branches of this attempt's run; empty: applies to the whole name
  PERDURE_FIELDS(name, attempt_ns, used, branches)
  bool is_about(const segment::VersionId& id) const {
    return name == id.name && (branches.empty() || std::find(branches.begin(), branches.end(),
                                                             plan::branch_of(id.attempt.nonce)) != branches.end());
  }
};
/// Versions whose redundancy is still kept, because the store does not have them.
struct KeptVersions {
  std::vector<segment::VersionId> versions;
  PERDURE_FIELDS(versions)
};
/// The job ends, and its engines have stored all they had to. Redundancy of versions of so many ranks that the store
/// has whole need not be kept any more.
struct AllStored {
  static constexpr const char* kName = "all_stored";
  static constexpr Kind kKind = Kind::answered;
  using Reply = KeptVersions;
  std::uint32_t ranks = 0;
  std::vector<StoredName> stored;
  PERDURE_FIELDS(ranks, stored)
};

using GroupMessages = Messages<OpenNetwork, Join, Recover, ReplicateAgain, KeptNames, AllStored>;

}  // namespace perdure::ipc
