#include "engine/serve/exporter.hpp"

#include <algorithm>
#include <array>

#include "base/version.hpp"

namespace perdure::engine {
namespace {

using metrics::Collection;

constexpr std::array kLevels = {"process", "node", "store"};

double flag(bool set) { return set ? 1 : 0; }

void export_captures(const NodeState& core, Collection& out) {
  const Counters& c = core.counters();
  out.add("perdure_checkpoints_begun_total", c.begun);
  out.add("perdure_checkpoints_committed_total", c.committed);
  out.add("perdure_checkpoints_aborted_total", c.aborted);
  out.add("perdure_checkpoints_under_way", c.under_way);
  out.add("perdure_capture_bytes_total", c.captured_bytes);
  out.add("perdure_capture_seconds", c.capture_s);
  out.add("perdure_slot_wait_seconds", c.slot_wait_s);
  out.add("perdure_chunks_moved_total", core.room.spilled_chunks());
  if (const auto slowdown = core.observed().interference.slowdown())
    out.add("perdure_application_slowdown_ratio", *slowdown);
}

// Level store counts versions even after their slots were reused. Lower levels count what is held now.
void export_levels(const NodeState& core, Collection& out) {
  std::array<std::uint64_t, kLevels.size()> versions = {}, newest_ns = {};
  newest_ns.fill(core.counters().newest_stored_ns);
  for (const auto& [id, held] : core.versions()) {
    if (!held.committed) continue;
    const Level level = held.all_stored()                   ? Level::store
                        : core.redundancy.at_node_level(id) ? Level::node
                                                            : Level::process;
    ++versions[static_cast<std::size_t>(level)];
    for (std::size_t lower = 0; lower <= static_cast<std::size_t>(level); ++lower)
      newest_ns[lower] = std::max(newest_ns[lower], id.attempt.created_ns);
  }
  for (std::size_t level = 0; level < kLevels.size(); ++level) {
    out.add("perdure_versions", versions[level], {{"level", kLevels[level]}});
    if (newest_ns[level] != 0)
      out.add("perdure_newest_checkpoint_timestamp_seconds", static_cast<double>(newest_ns[level]) * 1e-9,
              {{"level", kLevels[level]}});
  }
}

void export_flushes(const NodeState& core, Collection& out) {
  const Counters& c = core.counters();
  out.add("perdure_unflushed_bytes", core.pending_bytes());
  out.add("perdure_versions_given_up", std::uint64_t{core.given_up_versions()});
  out.add("perdure_flush_bytes_total", c.flushed_chunk_bytes);
  out.add("perdure_flush_seconds", c.flush_s);
  out.add("perdure_flush_bytes_per_second", core.outlook.flushes().bytes_per_s);
  out.add("perdure_flush_failures_total", c.flushes_retried, {{"outcome", "retried"}});
  out.add("perdure_flush_failures_total", c.flushes_given_up, {{"outcome", "given_up"}});
  out.add("perdure_store_failing", flag(core.store_failing()));
}

void export_tiers(NodeState& core, Collection& out) {
  const std::uint64_t chunk_bytes = core.options().chunk_bytes;
  const auto states = core.outlook.tiers(0, {{}, chunk_bytes, 0, {}, {}}, false);
  for (std::size_t t = 0; t < states.size(); ++t) {
    const tier::Tier& tier = *core.tiers()[t];
    const tier::Usage usage = tier.usage();
    const metrics::Labels labels = {{"tier", tier.properties().name}};
    out.add("perdure_tier_slots", states[t].slots, labels);
    out.add("perdure_tier_slots_used", usage.slots - usage.free_slots, labels);
    out.add("perdure_tier_limit_bytes", tier.capacity(tier.properties().slot_bytes) * tier.properties().slot_bytes,
            labels);
    out.add("perdure_tier_bytes", usage.bytes, labels);
    out.add("perdure_tier_failed", flag(states[t].failed), labels);
    out.add("perdure_chunks_placed_total", core.grants.decisions().placed(t), labels);
  }
  out.add("perdure_evictions_total", core.counters().evicted_stored, {{"state", "stored"}});
  out.add("perdure_evictions_total", core.counters().evicted_unstored, {{"state", "unstored"}});
  out.add("perdure_evictions_total", core.counters().skipped, {{"state", "skipped"}});
}

void export_redundancy(const NodeState& core, Collection& out) {
  const Counters& c = core.counters();
  out.add("perdure_protections_total", c.replications_reached, {{"outcome", "reached"}});
  out.add("perdure_protections_total", c.replications_failed, {{"outcome", "failed"}});
  out.add("perdure_protections_total", c.replications_stored, {{"outcome", "stored"}});
  out.add("perdure_protections_total", c.replications_superseded, {{"outcome", "superseded"}});
  out.add("perdure_redundancy_encoded_bytes_total", c.encoded_bytes);
  out.add("perdure_redundancy_kept_bytes", core.redundancy.bytes());
  out.add("perdure_recoveries_total", c.recoveries, {{"outcome", "done"}});
  out.add("perdure_recoveries_total", c.recoveries_failed, {{"outcome", "failed"}});
  out.add("perdure_recovered_bytes_total", c.fetched_bytes, {{"source", "peer"}});
  out.add("perdure_recovered_bytes_total", c.rebuilt_bytes, {{"source", "redundancy"}});
  out.add("perdure_restored_bytes_total", c.restored_from_slots_bytes, {{"source", "slot"}});
  out.add("perdure_restored_bytes_total", c.restored_from_store_bytes, {{"source", "store"}});
  out.add("perdure_quarantined_total", c.quarantined_chunks, {{"kind", "chunk"}});
  out.add("perdure_quarantined_total", c.quarantined_blocks, {{"kind", "block"}});
}

}  // namespace

void export_core(NodeState& core, Collection& out) {
  export_captures(core, out);
  export_levels(core, out);
  export_flushes(core, out);
  export_tiers(core, out);
  export_redundancy(core, out);
}

void export_identity(const NodeState& core, const Identity& identity, Collection& out) {
  out.add("perdure_engine_info", 1.0,
          {{"version", base::kVersion},
           {"mode", identity.mode},
           {"scheme", identity.scheme},
           {"policy", core.options().policy->name}});
  out.add("perdure_engine_start_time_seconds", static_cast<double>(identity.started_ns) * 1e-9);
}

}  // namespace perdure::engine
