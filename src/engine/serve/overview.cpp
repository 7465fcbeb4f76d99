#include "engine/serve/overview.hpp"

#include <algorithm>
#include <map>

#include "base/json.hpp"
#include "engine/serve/wait_reasons.hpp"
#include "os/affinity.hpp"

namespace perdure::engine {
namespace {

using base::Json;

constexpr std::size_t kMostVersions = 256;

std::string tier_name(NodeState& core, std::optional<std::size_t> tier) {
  return tier && *tier < core.tiers().size() ? core.tiers()[*tier]->properties().name : std::string();
}

Json model_of(const NodeState& core, std::size_t tier) {
  const ModelSource& source = core.options().models[tier].source;
  return {{"source", source_name(source.kind)},
          {"calibrated_ns", source.created_ns},
          {"file", source.file},
          {"why", source.why}};
}

// Shows tiers as a policy would see them for a whole chunk of a checkpoint that does not exist.
Json tiers_of(NodeState& core) {
  Json list = Json::array();
  const auto states = core.outlook.tiers(0, {{}, core.options().chunk_bytes, 0, {}, {}}, false);
  for (std::size_t t = 0; t < states.size(); ++t) {
    const placement::TierState& state = states[t];
    const tier::Usage usage = core.tiers()[t]->usage();
    list.push_back({{"name", tier_name(core, t)},
                    {"emulated", core.tiers()[t]->device() != nullptr},
                    {"failed", state.failed},
                    {"slots", state.slots},
                    {"free_slots", state.free_slots},
                    {"used_slots", usage.slots - usage.free_slots},
                    {"bytes", usage.bytes},
                    {"writers", state.writers},
                    {"readers", state.readers},
                    {"chunks_unflushed", state.chunks_unflushed},
                    {"chunks_placed", core.grants.decisions().placed(t)},
                    {"slots_to_come", state.slots_to_come},
                    {"predicted_bytes_per_s", state.model->bytes_per_s(state.writers + 1)},
                    {"model", model_of(core, t)},
                    {"observations", state.model->observations()}});
  }
  return list;
}

Json flushes_of(const NodeState& core) {
  const placement::FlushOutlook flush = core.outlook.flushes();
  return {{"bytes_per_s", flush.bytes_per_s},
          {"deviation_bytes_per_s", flush.deviation_bytes_per_s},
          {"threads", flush.threads},
          {"chunks_under_way", core.flush_meter().running()},
          {"next_slot_s", flush.next_slot_s},
          {"bytes_flushed", core.counters().stored_bytes},
          {"chunks_moved", core.room.spilled_chunks()},
          {"bytes_pending", core.pending_bytes()}};
}

Json application_of(const NodeState& core) {
  const Interference& interference = core.observed().interference;
  Json application = {{"slowdown", nullptr}, {"steps", interference.steps()}, {"step_s", nullptr}};
  if (const auto slowdown = interference.slowdown()) application["slowdown"] = *slowdown;
  if (const auto seconds = interference.quiet_step_s()) application["step_s"] = *seconds;
  return application;
}

std::uint64_t count_chunks(const std::map<std::uint32_t, segment::Piece>& pieces,
                           bool (*counts)(const segment::ChunkEntry& chunk)) {
  std::uint64_t count = 0;
  for (const auto& [rank, piece] : pieces)
    count += static_cast<std::uint64_t>(std::count_if(piece.chunks.begin(), piece.chunks.end(), counts));
  return count;
}

bool is_spilled(const segment::ChunkEntry& chunk) { return chunk.place == catalog::kInTemporarySegment; }
bool is_written(const segment::ChunkEntry& chunk) { return chunk.place != kNotWritten; }

// Shows captures that ranks announced and have not agreed on yet.
Json captures_of(const NodeState& core) {
  Json list = Json::array();
  for (const auto& [id, version] : core.tracked()) {
    if (!version.capture) continue;
    const OpenCapture& capture = *version.capture;
    const auto* held = core.find(id);
    if (held != nullptr && held->committed) continue;
    if (list.size() == kMostVersions) break;
    const std::uint64_t spilled = count_chunks(capture.pieces, is_spilled);
    Json shown = {{"name", id.name},
                  {"version", id.version},
                  {"bytes", capture.bytes()},
                  {"ranks", capture.pieces.size()},
                  {"all_announced", capture.announced()},
                  {"flushed_meanwhile", core.captures.write_through(id)},
                  {"chunks", count_chunks(capture.pieces, [](const auto&) { return true; })},
                  {"chunks_written", count_chunks(capture.pieces, is_written)},
                  {"chunks_flushed", spilled + core.room.chunks_to_spill(id)},
                  {"chunks_moved", spilled}};
    if (capture.failure) shown["error"] = capture.failure->text();
    list.push_back(std::move(shown));
  }
  return list;
}

Json versions_of(const NodeState& core) {
  Json list = Json::array();
  for (const auto& [id, held] : core.versions()) {
    if (list.size() == kMostVersions) break;
    const Version* run = core.version(id);
    Json version = {{"name", id.name},
                    {"version", id.version},
                    {"state", flush_name(held, run)},
                    {"bytes", held.bytes()},
                    {"bytes_flushed", run == nullptr ? 0 : run->bytes_flushed},
                    {"chunks_moved", count_chunks(held.pieces, is_spilled)},
                    {"being_restored", run != nullptr && !run->pinned_by.empty()}};
    if (run != nullptr && run->error) version["error"] = run->error->text();
    list.push_back(std::move(version));
  }
  return list;
}

/// Returns the newest version of each name at each level that this node knows of, by the start of its attempt.
Json names_of(const NodeState& core) {
  struct Newest {
    const segment::VersionId* process = nullptr;
    const segment::VersionId* node = nullptr;
    const segment::VersionId* store = nullptr;
  };
  std::map<std::string, Newest> names;
  const auto note = [](const segment::VersionId*& newest, const segment::VersionId& id) {
    if (newest == nullptr || newest->attempt < id.attempt) newest = &id;
  };
  for (const auto& [id, held] : core.versions()) {
    if (!held.committed || (names.size() == kMostVersions && !names.contains(id.name))) continue;
    Newest& newest = names[id.name];
    note(newest.process, id);
    if (core.redundancy.at_node_level(id)) note(newest.node, id);
    if (std::string_view(flush_name(held, core.version(id))) == "stored") note(newest.store, id);
  }
  Json list = Json::array();
  for (const auto& [name, newest] : names) {
    Json shown = {{"name", name}};
    const auto add = [&](const char* level, const segment::VersionId* id) {
      if (id != nullptr) shown[level] = {{"version", id->version}, {"begun_ns", id->attempt.created_ns}};
    };
    add("process", newest.process);
    add("node", newest.node);
    add("store", newest.store);
    list.push_back(std::move(shown));
  }
  return list;
}

Json decisions_of(NodeState& core) {
  Json list = Json::array();
  for (const NotedDecision& noted : core.grants.decisions().recent()) {
    const placement::Decision& d = noted.decision;
    list.push_back({{"time_ns", noted.wall_ns},
                    {"rank", noted.rank},
                    {"name", noted.id.name},
                    {"version", noted.id.version},
                    {"tier", tier_name(core, d.tier)},
                    {"reason", placement::reason_name(d.reason)},
                    {"text", placement::reason_text(d.reason)},
                    {"times", noted.times},
                    {"tier_bytes_per_s", d.tier_bytes_per_s},
                    {"flush_bytes_per_s", d.flush_bytes_per_s},
                    {"write_s", d.write_s},
                    {"rest_s", d.rest_s}});
  }
  return list;
}

}  // namespace

Json overview(NodeState& core) {
  Json reasons = Json::object();
  for (const auto& [reason, count] : core.grants.decisions().counts()) reasons[placement::reason_name(reason)] = count;
  return {{"policy", core.options().policy->name},
          {"cpus", os::own_cpus().text()},  // those of the engine's threads, since one of them answers
          {"tiers", tiers_of(core)},
          {"flush", flushes_of(core)},
          {"application", application_of(core)},
          {"captures", captures_of(core)},
          {"names", names_of(core)},
          {"versions", versions_of(core)},
          {"reasons", reasons},
          {"decisions", decisions_of(core)}};
}

}  // namespace perdure::engine
