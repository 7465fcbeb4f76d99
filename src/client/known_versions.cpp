#include "client/known_versions.hpp"

#include <algorithm>

#include "plan/lineage.hpp"

namespace perdure::client {

void KnownVersions::saw_attempt(const segment::VersionId& id) {
  std::uint64_t& newest = newest_attempt_[id.name];
  newest = std::max(newest, id.attempt.created_ns);
}

void KnownVersions::whole_in_tiers(const segment::VersionId& id) {
  whole_in_tiers_[id.name].insert(id);
  was_complete(id);
}

bool KnownVersions::was_whole_in_tiers(const segment::VersionId& id) const {
  const auto known = whole_in_tiers_.find(id.name);
  return known != whole_in_tiers_.end() && known->second.contains(id);
}

std::map<std::string, std::set<std::uint64_t>> KnownVersions::whole_in_tiers() const {
  std::map<std::string, std::set<std::uint64_t>> attempts;
  for (const auto& [name, ids] : whole_in_tiers_)
    for (const auto& id : ids) attempts[name].insert(id.attempt.created_ns);
  return attempts;
}

void KnownVersions::was_complete(const segment::VersionId& id) {
  auto& newest = complete_[id.name].try_emplace(plan::branch_of(id.attempt.nonce), id).first->second;
  if (newest.attempt < id.attempt) newest = id;
}

std::vector<segment::VersionId> KnownVersions::complete(const std::string& name) const {
  std::vector<segment::VersionId> newest;
  if (const auto known = complete_.find(name); known != complete_.end())
    for (const auto& entry : known->second) newest.push_back(entry.second);
  return newest;
}

// A program that goes back to an old version means that one.
void KnownVersions::drop_oldest(Versions& versions, std::uint64_t kept) {
  auto oldest = versions.end();
  for (auto one = versions.begin(); one != versions.end(); ++one)
    if (one->first != kept && (oldest == versions.end() || one->second < oldest->second)) oldest = one;
  if (oldest != versions.end()) versions.erase(oldest);
}

void KnownVersions::went_on_from(const segment::VersionId& id) {
  Versions& versions = meant_[id.name];
  versions[id.version] = id.attempt.created_ns;
  if (versions.size() > kMostMeant) drop_oldest(versions, id.version);
  last_[id.name] = id;
}

std::vector<plan::LineVersion> KnownVersions::seen(const std::string& name) const {
  std::vector<plan::LineVersion> all;
  const auto add = [&](const segment::VersionId& id) {
    all.push_back({plan::branch_of(id.attempt.nonce), id.version, id.attempt.created_ns});
  };
  for (const auto& id : complete(name)) add(id);
  if (const auto known = whole_in_tiers_.find(name); known != whole_in_tiers_.end())
    for (const auto& id : known->second) add(id);
  if (const auto known = written_.find(name); known != written_.end())
    for (const auto& [branch, versions] : known->second)
      for (const auto& [version, begun_ns] : versions) all.push_back({branch, version, begun_ns});
  return all;
}

std::optional<segment::VersionId> KnownVersions::last(const std::string& name) const {
  const auto known = last_.find(name);
  return known == last_.end() ? std::nullopt : std::optional(known->second);
}

std::optional<segment::VersionId> KnownVersions::last(const std::string& name, std::uint64_t version) const {
  const auto known = last_.find(name);
  return known != last_.end() && known->second.version == version ? std::optional(known->second) : std::nullopt;
}

std::uint64_t KnownVersions::meant(const std::string& name, std::uint64_t version) const {
  const auto known = meant_.find(name);
  if (known == meant_.end()) return 0;
  const auto at = known->second.find(version);
  return at == known->second.end() ? 0 : at->second;
}

std::set<std::string> KnownVersions::names() const {
  std::set<std::string> names;
  for (const auto& entry : newest_attempt_) names.insert(entry.first);
  for (const auto& entry : meant_) names.insert(entry.first);
  return names;
}

// A store that cannot be read now is a matter for the flush, and does not stop the application.
void KnownVersions::observe(const std::string& name, store::Store& store, bool replace, const plan::Line& line) {
  if (taken_.contains(name)) return;
  Versions versions;  // kept only when everything was looked at
  const std::uint64_t forgotten_ns = store.forgotten(name).value_or(0);
  saw_attempt({name, 0, {forgotten_ns, 0}});
  const auto note = [&](plan::Branch branch, std::uint64_t version, std::uint64_t begun_ns) {
    if (!plan::on_line(line, branch, begun_ns) || begun_ns <= forgotten_ns) return;
    versions[version] = std::max(versions[version], begun_ns);
  };
  for (const auto& id : whole_in_tiers_[name])
    note(plan::branch_of(id.attempt.nonce), id.version, id.attempt.created_ns);
  for (const auto& [branch, written] : written_[name])
    for (const auto& [version, begun_ns] : written) note(branch, version, begun_ns);
  if (const auto listings = store.list(name)) {
    saw_store();
    for (const auto& listing : *listings) {
      saw_attempt(listing.id);
      if (replace || !listing.all_present() || !plan::on_line(line, listing.id.attempt)) continue;
      if (store::read_version(store, listing))
        note(plan::branch_of(listing.id.attempt.nonce), listing.id.version, listing.id.attempt.created_ns);
    }
  }
  drop_left_branches(versions);
  taken_[name] = std::move(versions);
}

// A program that went back with an older Perdure named no branches. Then numbers above that of the newest attempt
// belong to a branch that it left.
void KnownVersions::drop_left_branches(Versions& versions) {
  const auto newest = std::max_element(versions.begin(), versions.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second, a.first) < std::pair(b.second, b.first);
  });
  if (newest != versions.end()) versions.erase(std::next(newest), versions.end());
}

base::Status KnownVersions::check_free(const std::string& name, std::uint64_t version) const {
  const auto known = taken_.find(name);
  if (known == taken_.end() || !known->second.contains(version)) return {};
  return base::fail(PERDURE_EXISTS, name + " version " + std::to_string(version), "this version exists already",
                    "use a higher version, retire the old one, or set checkpoint.replace");
}

std::uint64_t KnownVersions::next_attempt(const std::string& name, std::uint64_t clock_ns) {
  std::uint64_t& newest = newest_attempt_[name];
  newest = plan::attempt_time(clock_ns, newest);
  return newest;
}

bool KnownVersions::is_newest(const std::string& name, std::uint64_t created_ns) const {
  const auto known = newest_attempt_.find(name);
  return known == newest_attempt_.end() || known->second <= created_ns;
}

void KnownVersions::written(const segment::VersionId& id) {
  taken_[id.name][id.version] = id.attempt.created_ns;
  written_[id.name][plan::branch_of(id.attempt.nonce)][id.version] = id.attempt.created_ns;
  was_complete(id);
}

void KnownVersions::went_back(const segment::VersionId& id) {
  taken_.erase(id.name);
  branches_.erase(id.name);
}

std::optional<plan::Branch> KnownVersions::written_branch(const std::string& name) const {
  const auto known = branches_.find(name);
  return known == branches_.end() ? std::nullopt : std::optional(known->second);
}

// Only if the store was looked at: an empty set would say that no version exists.
void KnownVersions::retired(const std::string& name, std::uint64_t version, const plan::Line& line) {
  if (const auto known = taken_.find(name); known != taken_.end()) known->second.erase(version);
  const auto goes = [&](const segment::VersionId& id) {
    return id.version == version && plan::on_line(line, id.attempt);
  };
  std::erase_if(whole_in_tiers_[name], goes);
  std::erase_if(complete_[name], [&](const auto& entry) { return goes(entry.second); });
  for (auto& [branch, written] : written_[name])
    if (const auto at = written.find(version); at != written.end() && plan::on_line(line, branch, at->second))
      written.erase(at);
}

}  // namespace perdure::client
