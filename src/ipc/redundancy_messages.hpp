#pragma once
// What ranks and engines say to each other about other nodes: the requests, and what is told of redundancy. How they
// are sent, and that all of it is checked: ipc/messages.hpp.
#include <cstdint>
#include <string>
#include <vector>

#include "base/cbor.hpp"
#include "base/result.hpp"
#include "segment/manifest.hpp"

namespace perdure::ipc {

// ---- requests ----------------------------------------------------------------------------------------------------
/// Answered when this node's group keeps what it needs of the version, or can't, or the time is over (0: no limit).
/// PERDURE_UNSUPPORTED where there is no group.
struct WaitProtected {
  segment::VersionId id;
  std::uint64_t timeout_ns = 0;
};
/// The leader: open the network for engines that hold this key. Reply: "address", for Join of all of them.
struct OpenNetwork {
  std::vector<std::byte> job_key;
};
/// The leader: the group of this node in this launch.
struct Join {
  std::uint64_t epoch = 0;
  std::uint32_t group = 0;
  std::uint32_t position = 0;
  std::vector<std::vector<std::byte>> addresses;  ///< by position
  std::vector<std::uint32_t> ranks = {};          ///< that run on this node now
  std::vector<std::string> nodes = {};            ///< what people call them, by position; or none
};
/// What this node has of a version and of its redundancy, for peers to read; its slots stay as they are until Unpin or
/// the end of the connection. Reply: "loan", for Recover of any engine of the job.
struct Lend {
  segment::VersionId id;
};
/// Fetch or rebuild these ranks' pieces of a version into slots of this node, out of what all nodes lend. Answered when
/// they are staged, or cannot be. Reply: "recovered", how many bytes each was moved and rebuilt.
struct Recover {
  segment::VersionId id;
  std::uint32_t ranks = 0;
  std::vector<std::uint32_t> wanted;
  std::vector<std::vector<std::byte>> loans;
};
/// Bring this version, which all nodes hold, to level `node` (again, in the groups of this launch).
struct Protect {
  segment::VersionId id;
};
/// Reply: "attempt_ns", of the newest version of the name that has reached level `node` in this node's group; 0: none.
struct NewestProtected {
  std::string name;
};
/// On all nodes the version of this attempt has reached level `node`: nobody needs older ones to rebuild. No answer.
struct Superseded {
  std::string name;
  std::uint64_t attempt_ns = 0;
};
/// Everything of this job is in the store: nothing has to be kept for other nodes any more of versions of so many
/// ranks.
struct AllStored {
  std::uint32_t ranks = 0;
};

// ---- replies -----------------------------------------------------------------------------------------------------
/// What a node keeps for its group, as much of it as plan/recovery needs.
struct KeptSummary {
  segment::VersionId id;
  std::uint32_t ranks = 0;  ///< of the whole version
  std::uint64_t epoch = 0;
  std::uint32_t group = 0;
  std::string scheme;
  std::uint32_t parities = 0;
  std::uint32_t position = 0;
  struct Member {
    std::uint32_t rank = 0;
    std::uint64_t chunks = 0;
    friend bool operator==(const Member&, const Member&) = default;
  };
  std::vector<std::vector<Member>> members;  ///< by position
  std::vector<std::uint64_t> missing;        ///< of what it should keep: numbers as in redundancy::Item
};
base::Json to_json(const KeptSummary& summary);
/// PERDURE_CORRUPT when anything is missing or out of range.
base::Result<KeptSummary> kept_from_json(const base::Json& json);

}  // namespace perdure::ipc
