#pragma once
// What clients tell their engine about the other nodes of the job.
#include <algorithm>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "ipc/message.hpp"
#include "plan/lineage.hpp"
#include "segment/manifest.hpp"

namespace perdure::ipc {

struct NetworkAddress {
  std::vector<std::byte> address;  ///< for Join of all engines
  PERDURE_FIELDS(address)
  std::string wrong() const { return address.size() <= 4096 ? "" : "field 'address' has more than 4096 bytes"; }
};
/// The leader: open the network for engines that hold this key.
struct OpenNetwork {
  static constexpr const char* kName = "open_network";
  static constexpr Kind kKind = Kind::answered;
  using Reply = NetworkAddress;
  std::vector<std::byte> job_key;
  PERDURE_FIELDS(job_key)
  std::string wrong() const { return job_key.size() <= 64 ? "" : "field 'job_key' has more than 64 bytes"; }
};
/// The leader: the group of this node in this launch.
struct Join {
  static constexpr const char* kName = "join";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Done;
  std::uint64_t epoch = 0;
  std::uint32_t group = 0;
  std::uint32_t position = 0;
  std::vector<std::vector<std::byte>> addresses;  ///< by position
  std::vector<std::uint32_t> ranks = {};          ///< that run on this node now
  std::vector<std::string> nodes = {};            ///< what people call them, by position; or none
  PERDURE_FIELDS(epoch, group, position, addresses, ranks, nodes)
  std::string wrong() const;
};

/// What was recovered of one rank.
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
/// An engine that has something that a recovery can use.
struct NodeToAsk {
  std::string node;                       ///< what people call it
  std::vector<std::byte> address;         ///< of its endpoint
  std::vector<std::uint32_t> pieces;      ///< ranks whose pieces it may have
  std::vector<std::uint32_t> redundancy;  ///< ranks whose groups it keeps redundancy blocks of
  PERDURE_FIELDS(node, address, pieces, redundancy)
  std::string wrong() const;
};
/// Fetch or rebuild these ranks' pieces of a version into slots of this node, out of what the engines of these nodes
/// (this one may be among them) and parity servers export when they are asked. Answered when they are staged, or cannot
/// be.
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
/// What becomes of a version that is to be replicated again. Where nodes of a group differ in that, or where it is
/// neither, it takes a new launch: in this one the group is through with the version.
struct ReplicatingAgain {
  bool kept = false;   ///< level `node` is reached, and this node has all of its part: that stays
  bool begun = false;  ///< it is under way
  PERDURE_FIELDS(kept, begun)
};
/// Bring this version, which all nodes hold, to level `node` (again, in the groups of this launch).
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
/// The names of which something is kept for other nodes, of versions of so many ranks; 0: of any number.
struct KeptNames {
  static constexpr const char* kName = "kept_names";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Names;
  std::uint32_t ranks = 0;
  PERDURE_FIELDS(ranks)
};
/// Of this name the store has a version whole: nobody needs it, or older ones, to rebuild.
struct StoredName {
  std::string name;
  std::uint64_t attempt_ns = 0;
  bool used = false;  ///< by the launch that ends: its versions of other numbers of ranks are of this job, too
  std::vector<plan::Branch> branches = {};  ///< of the run that this attempt is of; empty: said of all of the name
  PERDURE_FIELDS(name, attempt_ns, used, branches)
  bool is_about(const segment::VersionId& id) const {
    return name == id.name && (branches.empty() || std::find(branches.begin(), branches.end(),
                                                             plan::branch_of(id.attempt.nonce)) != branches.end());
  }
};
/// What is still kept for other nodes, because the store does not have it.
struct KeptVersions {
  std::vector<segment::VersionId> versions;
  PERDURE_FIELDS(versions)
};
/// The job ends, and all that its engines had to store is stored: what the store has whole need not be kept for other
/// nodes any more, of versions of so many ranks.
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
