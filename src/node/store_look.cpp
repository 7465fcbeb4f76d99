#include "node/store_look.hpp"

#include <algorithm>

namespace perdure::node {
namespace {

// A store that has nothing of a name may report that as an error.
template <class T>
base::Result<T> or_nothing(base::Result<T> answer) {
  if (!answer && answer.error().code == PERDURE_NOT_FOUND) return T();
  return answer;
}

}  // namespace

base::Result<StoreFacts> facts_of(store::Store& store, const std::string& name,
                                  const std::set<segment::VersionId>& wanted) {
  StoreFacts facts;
  PERDURE_TRY(auto listings, or_nothing(store.list(name)));
  PERDURE_TRY(const auto aside, or_nothing(store.set_aside(name)));
  PERDURE_TRY(facts.forgotten_ns, or_nothing(store.forgotten(name)));
  PERDURE_TRY(facts.forks, or_nothing(store::forks(store, name)));
  for (const auto& segment : aside) facts.set_aside.insert(segment.id);
  std::sort(listings.begin(), listings.end(), [](const auto& a, const auto& b) { return a.id.attempt > b.id.attempt; });
  std::set<plan::Branch> seen;  // branches with a whole version
  for (const auto& listing : listings) {
    const plan::Branch branch = plan::branch_of(listing.id.attempt.nonce);
    if (!listing.all_present() || (seen.contains(branch) && !wanted.contains(listing.id))) continue;
    if (!store::read_version(store, listing)) continue;
    facts.whole.insert(listing.id);
    seen.insert(branch);
  }
  return facts;
}

base::Result<store::Store*> StoreLook::store_of(const JobNote& job) {
  if (const auto known = stores_.find(job.store); known != stores_.end()) return known->second.get();
  PERDURE_TRY(auto opened, open_(job.store));
  return (stores_[job.store] = std::move(opened)).get();
}

Facts StoreLook::facts_of(const Left& left) {
  Facts facts;
  if (!left.job) return facts;
  std::map<std::string, std::set<segment::VersionId>> wanted;
  for (const Holding& holding : left.holdings)
    if (holding.needs_store()) wanted[holding.id.name].insert(holding.id);
  if (wanted.empty()) return facts;
  const auto store = store_of(*left.job);
  for (const auto& [name, ids] : wanted)
    facts.emplace(name,
                  store ? node::facts_of(**store, name, ids) : base::Result<StoreFacts>(base::fail(store.error())));
  return facts;
}

base::Status StoreLook::make_lasting(const Left& left, const Facts& facts) {
  if (!left.job || !left.needs_store()) return {};
  PERDURE_TRY(store::Store* const store, store_of(*left.job));
  for (const auto& [name, known] : facts)
    if (known)
      for (const auto& id : relied_on(*known, left.holdings)) PERDURE_CHECK(store->make_lasting(id));
  return {};
}

}  // namespace perdure::node
