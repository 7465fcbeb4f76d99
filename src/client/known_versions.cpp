#include "client/known_versions.hpp"

#include <algorithm>

#include "plan/selection.hpp"

namespace perdure::client {

void KnownVersions::saw_attempt(const segment::VersionId& id) {
  std::uint64_t& newest = newest_attempt_[id.name];
  newest = std::max(newest, id.attempt.created_ns);
}

bool KnownVersions::was_whole_in_tiers(const segment::VersionId& id) const {
  const auto known = whole_in_tiers_.find(id.name);
  return known != whole_in_tiers_.end() && known->second.contains(id.version);
}

std::map<std::string, std::set<std::uint64_t>> KnownVersions::whole_in_tiers() const {
  std::map<std::string, std::set<std::uint64_t>> attempts;
  for (const auto& [name, versions] : whole_in_tiers_)
    for (const auto& [version, created_ns] : versions) attempts[name].insert(created_ns);
  return attempts;
}

void KnownVersions::went_on_from(const segment::VersionId& id) {
  Versions& versions = meant_[id.name];
  versions[id.version] = id.attempt.created_ns;
  if (versions.size() > kMostMeant) versions.erase(versions.begin());
  last_[id.name] = id;
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

// A store that cannot be read now is the flush's trouble, not a reason to stop the application.
void KnownVersions::observe(const std::string& name, store::Store& store, bool replace) {
  if (taken_.contains(name)) return;
  Versions versions;  // known when all was looked at, not before
  const std::uint64_t forgotten_ns = store.forgotten(name).value_or(0);
  saw_attempt({name, 0, {forgotten_ns, 0}});
  const auto left = left_after_.find(name);
  const auto note = [&](std::uint64_t version, std::uint64_t created_ns) {
    if (left != left_after_.end() && is_left(left->second, version, created_ns)) return;
    versions[version] = std::max(versions[version], created_ns);
  };
  for (const auto& [version, created_ns] : whole_in_tiers_[name])
    if (created_ns > forgotten_ns) note(version, created_ns);
  if (const auto listings = store.list(name)) {
    saw_store();
    for (const auto& listing : *listings) {
      saw_attempt({name, listing.id.version, listing.id.attempt});
      if (!replace && listing.all_present() && store::read_version(store, listing))
        note(listing.id.version, listing.id.attempt.created_ns);
    }
  }
  drop_left_branches(versions);
  taken_[name] = std::move(versions);
}

// Where a program went back, higher numbers than that of the newest attempt are of a branch that it left, also after a
// restart.
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

void KnownVersions::went_back(const segment::VersionId& id) {
  const auto& from = left_after_[id.name] = {id.version, id.attempt.created_ns};
  if (const auto known = taken_.find(id.name); known != taken_.end())
    std::erase_if(known->second, [&](const auto& one) { return is_left(from, one.first, one.second); });
}

// Higher numbers with an older attempt are of a branch that was left before.
bool KnownVersions::is_left(const Version& from, std::uint64_t version, std::uint64_t created_ns) {
  return version > from.number || created_ns > from.created_ns;
}

// Only where the store was looked at: an empty set would say that no version exists.
void KnownVersions::retired(const std::string& name, std::uint64_t version) {
  if (const auto known = taken_.find(name); known != taken_.end()) known->second.erase(version);
  whole_in_tiers_[name].erase(version);
}

}  // namespace perdure::client
