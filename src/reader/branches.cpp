#include "reader/branches.hpp"

#include <algorithm>

namespace perdure::reader {

bool Branches::has(const segment::VersionId& id, const std::optional<plan::Branch>& branch) const {
  if (branch) return plan::on_line(plan::line_of(forks, *branch), id.attempt);
  return line.empty() || plan::on_line(line, id.attempt);
}

// A quarantined attempt was complete once: its damage does not bring back a branch that was left before.
base::Result<Branches> branches_of(store::Store& store, const std::string& name,
                                   const std::vector<store::VersionListing>& listings) {
  Branches branches;
  std::optional<segment::Attempt> newest;
  const auto see = [&](const segment::Attempt& attempt) { newest = newest ? std::max(*newest, attempt) : attempt; };
  for (const auto& listing : listings)
    if (listing.all_present()) see(listing.id.attempt);
  if (const auto aside = store.set_aside(name))
    for (const auto& segment : *aside) see(segment.id.attempt);
  auto forks = store::recorded_forks(store, name);
  if (!forks && forks.error().code != PERDURE_CORRUPT) return base::fail(std::move(forks).error());
  if (forks)
    branches.forks = std::move(*forks);
  else
    branches.damage = std::move(forks).error();
  if (!newest) return branches;
  branches.current = plan::branch_of(newest->nonce);
  branches.line = plan::line_of(branches.forks, branches.current);
  return branches;
}

std::vector<store::VersionListing> newest_first(const std::vector<store::VersionListing>& listings,
                                                const Branches& branches, const std::optional<plan::Branch>& branch) {
  std::vector<store::VersionListing> chosen;
  for (const auto& listing : listings)
    if (branches.has(listing.id, branch)) chosen.push_back(listing);
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const auto& a, const auto& b) { return a.id.attempt > b.id.attempt; });
  return chosen;
}

std::string branch_spec(const segment::VersionId& id) {
  return id.name + "@" + plan::branch_text(plan::branch_of(id.attempt.nonce)) + ":" + std::to_string(id.version);
}

}  // namespace perdure::reader
