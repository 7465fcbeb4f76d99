#pragma once
// Why a request waits, for whoever looks at `perdure top`.
#include "engine/ledger/node_state.hpp"

namespace perdure::engine {

struct WaitReason {
  std::string name;  ///< for programs: that of a placement::Reason, "behind", "flush", "emulated_device", "retention"
  std::string text;
};

/// Of a request for a slot: `head` is the rank of the first one that waits for any, unless it is that itself.
WaitReason why_no_slot(const NodeState& core, ClientId client, std::optional<std::uint32_t> head);
/// Of what waits for a version's flush: a wait for it to be stored, or for its retirement.
WaitReason why_not_flushed(const NodeState& core, const segment::VersionId& id);
WaitReason why_not_written(NodeState& core, std::uint32_t tier);
/// Of a drain.
WaitReason why_not_drained(const NodeState& core);

/// "nbody versions 10 to 30, b version 7", of what is committed and not stored; of three names at most.
std::string names_not_stored(const NodeState& core);

/// "queued", "being flushed", ...: how far the version is on its way to the store.
const char* flush_name(const catalog::HeldVersion& held, const Version* run);

}  // namespace perdure::engine
