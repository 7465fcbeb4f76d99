#include "engine/serve/skipped_versions.hpp"

#include <algorithm>

namespace perdure::engine {
namespace {

// True if it is in the store, or nothing known could keep it from there.
bool is_coming(const catalog::HeldVersion& held, const Version& version) {
  if (version.life == Life::stored) return true;
  return version.life == Life::committed && version.flush != FlushPhase::given_up && held.quarantined.empty();
}

// True if a newer version of another branch is known. A client that means no attempt in particular may mean that
// branch's number.
bool left_behind(const NodeState& ledger, const segment::VersionId& id) {
  const auto leaves = [&](const segment::VersionId& other) {
    return other.name == id.name && other.attempt > id.attempt && !plan::same_branch(other.attempt, id.attempt);
  };
  const auto& stored = ledger.counters().newest_stored;
  const auto& tracked = ledger.tracked();
  return std::any_of(stored.begin(), stored.end(), [&](const auto& entry) { return leaves(entry.second); }) ||
         std::any_of(tracked.begin(), tracked.end(), [&](const auto& entry) { return leaves(entry.first); });
}

}  // namespace

void SkippedVersions::leave_recovered(const NodeState& ledger) {
  for (const auto& [id, version] : ledger.tracked()) recovered_ = std::max(recovered_, version.order);
}

bool SkippedVersions::may_go(NodeState& ledger, const catalog::HeldVersion& held, const Version& version) const {
  const bool untouched =
      version.life == Life::committed && version.flush == FlushPhase::queued && !version.write_through() &&
      !version.capture && version.flushed.empty() && !ledger.catalog().state().begun.contains(held.id) &&
      std::none_of(held.segments.begin(), held.segments.end(), [](const auto& s) { return s.stored; });
  const bool awaited =
      std::any_of(awaited_.begin(), awaited_.end(), [&](const auto& entry) { return entry.second == held.id; });
  const bool needed = awaited || !version.pinned_by.empty() || version.replicate_first ||
                      ledger.redundancy.guarded(held.id) || ledger.redundancy.promised(held.id);
  return version.order > recovered_ && untouched && !needed;
}

std::vector<segment::VersionId> SkippedVersions::skip(NodeState& ledger, const std::string& name) {
  const auto& retention = ledger.options().retention;
  if (!retention) return {};
  std::vector<plan::ComingVersion> coming;
  std::vector<segment::VersionId> ids;
  const auto& versions = ledger.versions();
  for (auto it = versions.lower_bound({name, 0, {}}); it != versions.end() && it->first.name == name; ++it) {
    const auto& [id, held] = *it;
    const Version* version = ledger.version(id);
    if (version == nullptr || !is_coming(held, *version)) continue;
    plan::ComingVersion& one = coming.emplace_back();
    one.version = id.version;
    one.begun_ns = id.attempt.created_ns;
    one.branch = plan::branch_of(id.attempt.nonce);
    one.agreed = held.whole_here() || !version->held_back_until_s;
    one.may_go = (held.whole_here() || !one.agreed) && may_go(ledger, held, *version);
    ids.push_back(id);
  }
  std::vector<segment::VersionId> skipped;
  for (const std::size_t place : plan::skip(*retention, coming)) {
    if (!ledger.held.drop(ids[place]))
      break;  // the catalog takes nothing now: the version is flushed, or skipped at the next commit
    skipped_.note(ids[place], {});
    ++ledger.counters().skipped;
    skipped.push_back(ids[place]);
  }
  return skipped;
}

const segment::VersionId* SkippedVersions::find(const segment::VersionId& id) const {
  const segment::VersionId* found = nullptr;
  skipped_.for_each([&](const segment::VersionId& one, Told) {
    const bool meant = id.attempt.created_ns == 0 || one.attempt.created_ns == id.attempt.created_ns;
    if (one.name == id.name && one.version == id.version && meant) found = &one;
  });
  return found;
}

bool SkippedVersions::tell_once(const segment::VersionId& id) {
  const segment::VersionId* skipped = find(id);
  if (skipped == nullptr || skipped_.find(*skipped)->yes) return false;
  skipped_.note(segment::VersionId(*skipped), {true});
  return true;
}

SkippedVersions::Outcome SkippedVersions::outcome(const NodeState& ledger, const segment::VersionId& id) const {
  using State = Outcome::State;
  const segment::VersionId* skipped = find(id);
  if (skipped == nullptr || (id.attempt.created_ns == 0 && left_behind(ledger, *skipped))) return {};
  const auto& newest = ledger.counters().newest_stored;
  const auto stored = newest.find({id.name, plan::branch_of(skipped->attempt.nonce)});
  if (stored != newest.end() && stored->second.attempt > skipped->attempt)
    return {State::stored, stored->second.version, {}};
  Outcome lost{State::lost, 0, {}};
  for (const auto& [other, version] : ledger.tracked()) {
    const bool of_its_branch = other.name == id.name && plan::same_branch(other.attempt, skipped->attempt);
    if (!of_its_branch || !(other.attempt > skipped->attempt) || version.life < Life::delayed) continue;
    if (version.flush != FlushPhase::given_up) return {State::coming, 0, {}};
    if (version.error) lost.error = version.error;
  }
  return lost;
}

}  // namespace perdure::engine
