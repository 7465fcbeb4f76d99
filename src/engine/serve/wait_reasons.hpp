#pragma once
// Explains to readers of `perdure top` why a request waits.
#include "engine/ledger/node_state.hpp"

namespace perdure::engine {

struct WaitReason {
  /// for programs: the name of a placement::Reason, "behind", "flush", "emulated_device", "retention"
  std::string name;
  std::string text;
};

/// Explains a request for a slot. `head`: the rank of the first request that waits for any, unless it is this one.
WaitReason why_no_slot(const NodeState& core, ClientId client, std::optional<std::uint32_t> head);
/// Explains a wait for a version's flush: until it is stored, or retired.
WaitReason why_not_flushed(const NodeState& core, const segment::VersionId& id);
WaitReason why_not_written(NodeState& core, std::uint32_t tier);
/// Explains a drain.
WaitReason why_not_drained(const NodeState& core);

/// Returns "nbody versions 10 to 30, b version 7": committed versions that are not stored, of three names at most.
std::string names_not_stored(const NodeState& core);

/// Returns "queued", "being flushed", ...: how far the version is on its way to the store.
const char* flush_name(const catalog::HeldVersion& held, const Version* run);

}  // namespace perdure::engine
