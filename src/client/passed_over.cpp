#include "client/passed_over.hpp"

#include <algorithm>
#include <map>

#include "base/field_codec.hpp"

namespace perdure::client {
namespace {

constexpr const char* kPartOnly = "a part of it is neither in the store nor on a node of this job";
constexpr const char* kHalfFlushed =
    "its flush from a node to the store had begun, and did not end while the restore waited (perdure top)";
constexpr const char* kSetAside = "damage was found in it, and it was set aside (perdure ls --quarantine)";

bool is_committed(const JobInventory& all, const segment::VersionId& id) {
  return std::any_of(all.held.begin(), all.held.end(),
                     [&](const NodeHolding& holding) { return holding.held.committed && holding.held.id == id; });
}

bool is_a_part(const segment::VersionId& id, const VersionPlan& plan, const JobInventory& all, const StoreView& store) {
  return !plan.pieces.whole() && (is_committed(all, id) || store.find(id) != nullptr);
}

bool is_half_flushed(const JobInventory& all, const segment::VersionId& id) {
  return std::any_of(all.held.begin(), all.held.end(), [&](const NodeHolding& holding) {
    return holding.held.committed && holding.held.id == id && !holding.held.spilled.empty();
  });
}

std::string reason_of(const segment::VersionId& id, const VersionPlan& plan, const JobInventory& all) {
  if (is_half_flushed(all, id)) return kHalfFlushed;
  return plan.on_nodes && plan.pieces.lost ? *plan.pieces.lost : kPartOnly;
}

std::string written_by(const StoredVersionView& stored) {
  return "it was written by " + std::to_string(stored.ranks) + " ranks";
}

}  // namespace

std::vector<PassedOver> newer_than(const segment::VersionId& chosen, const VersionPlans& plans, const JobInventory& all,
                                   const StoreView& store, const Candidates& candidates) {
  std::map<segment::VersionId, std::string> found;
  const auto is_newer = [&](const segment::VersionId& id) {
    return id.name == chosen.name && id.attempt > chosen.attempt && candidates.contain(id);
  };
  for (const auto& [id, plan] : plans.of) {
    if (!is_newer(id) || !is_a_part(id, plan, all, store)) continue;
    found.emplace(id, reason_of(id, plan, all));
  }
  for (const auto& stored : store.versions)
    if (is_newer(stored.id) && !plans.of.contains(stored.id))
      found.emplace(stored.id, stored.ranks == 0 ? std::string(kSetAside) : written_by(stored));
  for (const auto& segment : store.aside)
    if (is_newer(segment.id)) found[segment.id] = kSetAside;
  std::vector<PassedOver> passed;
  for (auto& [id, why] : found) passed.push_back({id, std::move(why)});
  std::sort(passed.begin(), passed.end(), [](const auto& a, const auto& b) { return a.id.attempt > b.id.attempt; });
  return passed;
}

void keep_newer(std::vector<PassedOver>& passed, const segment::VersionId& chosen) {
  std::erase_if(passed, [&](const PassedOver& one) { return !(one.id.attempt > chosen.attempt); });
}

std::string passed_over_text(const std::vector<PassedOver>& passed) {
  std::string text;
  for (const PassedOver& one : passed) text += (text.empty() ? "" : ", ") + one.id.text() + " (" + one.why + ")";
  return text;
}

base::Result<std::string> common_reason(comm::Communicator& comm, const base::Error& mine) {
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  std::uint64_t speaker = mine.code == PERDURE_PEER_FAILED ? ranks : static_cast<std::uint64_t>(comm.rank());
  PERDURE_CHECK(comm.allreduce(std::span(&speaker, 1), comm::Reduce::minimum));
  if (speaker == ranks) return mine.text();
  PERDURE_TRY(const auto told, comm::broadcast_bytes(comm, base::encode_fields(mine), static_cast<int>(speaker)));
  PERDURE_TRY(const auto reason, base::decode_fields<base::Error>(told, "reason"));
  return reason.text();
}

}  // namespace perdure::client
