#include "metrics/definitions.hpp"

#include <algorithm>
#include <array>

namespace perdure::metrics {
namespace {

constexpr Kind counter = Kind::counter, gauge = Kind::gauge, histogram = Kind::histogram;

constexpr std::array kDefinitions = {
    // ---- the engine
    Definition{"perdure_engines", gauge, "", "", "Engines that live on this machine, as far as the exporter sees"},
    Definition{"perdure_engine_up", gauge, "", "", "1 when the engine answered, 0 when it lives and did not"},
    Definition{"perdure_engine_info", gauge, "", "version, mode, scheme, policy",
               "Always 1; the labels say what the engine is and how it is configured"},
    Definition{"perdure_engine_start_time_seconds", gauge, "seconds", "",
               "When the engine began, since 1970; counters count from then on"},
    Definition{"perdure_clients", gauge, "", "", "Ranks and handles that are connected; tools do not count"},
    Definition{"perdure_reports_total", counter, "", "",
               "Reports that the engine wrote for people; its log has their text"},
    // ---- captures
    Definition{"perdure_checkpoints_begun_total", counter, "", "", "Checkpoints that ranks of this node announced"},
    Definition{"perdure_checkpoints_committed_total", counter, "", "",
               "Of those, the ones that all ranks of the job agreed on"},
    Definition{"perdure_checkpoints_aborted_total", counter, "", "",
               "Of those, the ones that were given up before the commit"},
    Definition{"perdure_checkpoints_under_way", gauge, "", "", "Checkpoints that are announced and not committed yet"},
    Definition{"perdure_capture_bytes_total", counter, "bytes", "",
               "Protected data of this node's ranks in committed checkpoints"},
    Definition{"perdure_capture_seconds", histogram, "seconds", "",
               "From a checkpoint's first announcement on this node to its commit: what it blocks the ranks"},
    Definition{"perdure_chunks_placed_total", counter, "", "tier", "Chunks that got a slot of this tier"},
    Definition{"perdure_slot_requests_waiting", gauge, "", "", "Requests for a slot that wait now"},
    Definition{"perdure_slot_wait_seconds", histogram, "seconds", "",
               "How long requests for a slot waited, of those that had to"},
    // ---- levels
    Definition{"perdure_versions", gauge, "", "level",
               "Committed versions on this node, by the highest level they have reached"},
    Definition{"perdure_newest_checkpoint_timestamp_seconds", gauge, "seconds", "level",
               "When the newest checkpoint at this level was begun, since 1970, as far as this node knows"},
    // ---- the way to the store
    Definition{"perdure_unflushed_bytes", gauge, "bytes", "", "Committed data that is not at the store yet"},
    Definition{"perdure_versions_given_up", gauge, "", "",
               "Versions on this node whose flush was given up; the next checkpoint tries again"},
    Definition{"perdure_flush_bytes_total", counter, "bytes", "",
               "Chunks written to the store; what is written again counts again"},
    Definition{"perdure_flush_seconds", histogram, "seconds", "",
               "Duration of the flushes that brought a version to the store"},
    Definition{"perdure_flush_bytes_per_second", gauge, "bytes per second", "",
               "Bandwidth that the engine expects of its flushes, from those it observed; 0 before the first"},
    Definition{"perdure_flush_failures_total", counter, "", "outcome",
               "Flushes that failed, and were then retried or given_up"},
    Definition{"perdure_store_failing", gauge, "", "",
               "1 from a flush that the store failed to the next that succeeds"},
    Definition{"perdure_chunks_moved_total", counter, "", "",
               "Chunks whose slot was used again before their version was stored; they are in the store already"},
    Definition{"perdure_versions_retired_total", counter, "", "",
               "Versions that retention removed from the store; the first node's engine does that"},
    // ---- tiers
    Definition{"perdure_tier_slots", gauge, "", "tier",
               "Slots of the tier, taken from the system or still to be taken"},
    Definition{"perdure_tier_slots_used", gauge, "", "tier", "Slots that hold or are to hold a chunk"},
    Definition{"perdure_tier_limit_bytes", gauge, "bytes", "tier", "What chunks on the tier may take in all"},
    Definition{"perdure_tier_bytes", gauge, "bytes", "tier",
               "Memory or disk that the tier has taken from the system, free slots included"},
    Definition{"perdure_tier_failed", gauge, "", "tier", "1 while the tier is avoided because it could not be written"},
    Definition{
        "perdure_evictions_total", counter, "", "state",
        "Versions that gave up their slots for others: stored, or unstored and therefore lost here; or that were "
        "skipped, because retention would have removed them from the store"},
    // ---- redundancy and restores
    Definition{"perdure_protections_total", counter, "", "outcome",
               "Versions that this node's group brought to level node (reached); or not: failed, stored (this node's "
               "part is safe) or "
               "superseded (by a newer one)"},
    Definition{"perdure_redundancy_encoded_bytes_total", counter, "bytes", "",
               "Copies and parities that this node made for its group"},
    Definition{"perdure_redundancy_kept_bytes", gauge, "bytes", "",
               "Copies and parities that this node keeps for its group now"},
    Definition{"perdure_recoveries_total", counter, "", "outcome",
               "Times that pieces which were not on this node were fetched or rebuilt: done or failed"},
    Definition{"perdure_recovered_bytes_total", counter, "bytes", "source",
               "Data that came from other nodes: peer (fetched from its slots) or redundancy (copies, parities)"},
    Definition{"perdure_restored_bytes_total", counter, "bytes", "source",
               "Data that ranks of this node read back in restores: slot (of this node's tiers) or store"},
    Definition{"perdure_quarantined_total", counter, "", "kind",
               "What failed verification on this node: a chunk, or a block of redundancy"},
    // ---- the application
    Definition{"perdure_application_slowdown_ratio", gauge, "", "",
               "How much slower the application computes while a flush runs (0.05: 5 %); absent while unknown"},
};

}  // namespace

std::span<const Definition> definitions() { return kDefinitions; }

const Definition* find_definition(std::string_view name) {
  const auto found = std::find_if(kDefinitions.begin(), kDefinitions.end(),
                                  [name](const Definition& definition) { return name == definition.name; });
  return found == kDefinitions.end() ? nullptr : &*found;
}

void Collection::add(std::string_view name, Sample sample) {
  auto family = std::find_if(families_.begin(), families_.end(), [name](const auto& f) { return f.name == name; });
  if (family == families_.end()) {
    const Definition* definition = find_definition(name);
    const Kind kind = definition == nullptr ? Kind::gauge : definition->kind;
    family =
        families_.insert(families_.end(), {std::string(name), kind, definition == nullptr ? "" : definition->help, {}});
  }
  family->samples.push_back(std::move(sample));
}

}  // namespace perdure::metrics
