#include "client/branch_to_write.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/guarded.hpp"
#include "client/messages.hpp"
#include "client/sources.hpp"
#include "os/system.hpp"

namespace perdure::client {
namespace {

/// A process, its name as a launch, its store, and a checkpoint name. A forked child is another process.
using Program = std::tuple<std::int64_t, std::string, std::string, std::string>;
using States = base::Guarded<std::map<Program, segment::VersionId>>;

// The attempts that programs' states belong to, whatever handles they close and open. Never destroyed: a handle may be
// used when the process ends.
States& states() {
  static States& all = *new States;
  return all;
}

Program program_of(Job& job, const std::string& name) {
  return {os::process_id(), job.config().text("launch"), job.store().properties().location, name};
}

std::optional<segment::VersionId> state_of(Job& job, const std::string& name) {
  if (auto last = job.known().last(name)) return last;
  const auto all = states().lock();
  const auto known = all->find(program_of(job, name));
  return known == all->end() ? std::nullopt : std::optional(known->second);
}

plan::LineVersion line_version(const segment::VersionId& id) {
  return {plan::branch_of(id.attempt.nonce), id.version, id.attempt.created_ns};
}

/// The facts about a name when its branch is decided.
struct NameFacts {
  plan::BranchFacts facts;
  std::vector<plan::Fork> forks;
  std::set<plan::Branch> branches;    ///< branches in use; a new one gets another number
  std::optional<base::Error> unseen;  ///< why the store could not be read
};

NameFacts look_at_name(Job& job, const std::string& name) {
  NameFacts found;
  auto& whole = found.facts.whole;
  const auto listings = list_versions(job.store(), name, job.known());
  const auto forks = store::forks(job.store(), name);
  const std::uint64_t forgotten_ns = job.store().forgotten(name).value_or(0);
  if (!forks) found.unseen = forks.error();
  if (!listings) found.unseen = listings.error();
  found.facts.store_seen = !found.unseen;
  if (forks) found.forks = *forks;
  const auto& unrecorded = job.known().unrecorded(name).forks;
  found.forks.insert(found.forks.end(), unrecorded.begin(), unrecorded.end());
  if (listings)
    for (const auto& listing : *listings) {
      found.branches.insert(plan::branch_of(listing.id.attempt.nonce));
      if (listing.all_present()) whole.push_back(line_version(listing.id));
    }
  for (const auto& id : job.known().complete(name))
    if (id.attempt.created_ns > forgotten_ns) whole.push_back(line_version(id));
  for (const plan::LineVersion& one : whole) found.branches.insert(one.branch);
  for (const plan::Fork& fork : found.forks) found.branches.insert({fork.branch, fork.parent});
  if (const auto state = state_of(job, name); state && state->attempt.created_ns > forgotten_ns)
    found.facts.from = line_version(*state);
  return found;
}

plan::Branch new_branch(const std::set<plan::Branch>& in_use) {
  for (;;)
    if (const plan::Branch drawn = plan::draw_branch(os::random_u64()); !in_use.contains(drawn)) return drawn;
}

std::string spec(const std::string& name, const plan::LineVersion& version) {
  return name + "@" + plan::branch_text(version.branch) + ":" + std::to_string(version.version);
}

base::Error refused(const std::string& name, const plan::LineVersion& left) {
  return {PERDURE_EXISTS, "checkpoint " + name,
          "this start has restored nothing of it, and there are versions of an earlier run (the newest is " +
              spec(name, left) + "); new_start is refuse",
          "restore it first to go on from there; or begin anew beside it with another checkpoint name, another "
          "store.path, or new_start = keep; or give the earlier run up: perdure forget " +
              name,
          false};
}

base::Error refused_unseen(const std::string& name, base::Error why) {
  why.cause = "checkpoint " + name +
              ": whether an earlier run has versions cannot be told, and new_start is refuse: " + why.cause;
  return why;
}

std::string may_stay(const std::string& name, const base::Error& why, plan::Branch branch) {
  return "checkpoint " + name + ": whether an earlier run has versions cannot be told: " + why.text() +
         ". What it has stays as it is; this start writes branch " + plan::branch_text(branch);
}

std::string what_stays(const std::string& name, const plan::BranchChoice& choice, const plan::BranchFacts& facts,
                       plan::Branch branch) {
  const std::string kept = "kept as branch " + plan::branch_text(choice.left->branch) +
                           " (newest: " + spec(name, *choice.left) + "); this start writes branch " +
                           plan::branch_text(branch);
  const std::string removal = "; perdure prune --branches " + name + " removes what was left";
  if (choice.way == plan::BranchChoice::Way::start)
    return "checkpoint " + name + ": this start has restored nothing, and what an earlier one wrote is " + kept +
           ". To go on from the earlier one, restore it" + removal;
  return "checkpoint " + name + ": the program goes on from version " + std::to_string(facts.from->version) +
         ", and what is newer is " + kept + removal;
}

void tell(Job& job, const std::string& text) {
  Messages(job.config()).say(text);
  if (!job.engine().connected()) return;
  (void)base::caught("engine", [&] { return job.engine().channel().call(ipc::Note{text}); });
}

std::vector<plan::LineVersion> versions_there(Job& job, const std::string& name,
                                              const std::vector<store::VersionListing>& listings) {
  std::vector<plan::LineVersion> there = job.known().seen(name);
  for (const auto& listing : listings) there.push_back(line_version(listing.id));
  return there;
}

std::string not_recorded(const std::string& name, const UnrecordedForks& unrecorded, const base::Error& why) {
  return "checkpoint " + name + ": where branch " + plan::branch_text(unrecorded.forks.back().branch) + " begins " +
         (unrecorded.hopeless ? "cannot be recorded: all that is older is kept: "
                              : "could not be recorded, and is tried again; until then all that is older is kept: ") +
         why.text();
}

// Until the forks are recorded, their origins count as another run's, and are kept. A damaged record stays as it is:
// otherwise nobody would know any more that it had others.
void record_forks(Job& job, const std::string& name) {
  UnrecordedForks& unrecorded = job.known().unrecorded(name);
  if (unrecorded.forks.empty()) return;
  const bool first = std::exchange(unrecorded.tried_ns, os::monotonic_ns()) == 0;
  const auto recorded = base::caught("branch", [&]() -> base::Status {
    PERDURE_TRY(auto forks, store::recorded_forks(job.store(), name));
    PERDURE_TRY(const auto listings, list_versions(job.store(), name, job.known()));
    auto there = versions_there(job, name, listings);
    for (const plan::Fork& fork : unrecorded.forks) {
      there.push_back({fork.branch, fork.version, ~std::uint64_t{0}});
      there.push_back({fork.parent, fork.version, fork.begun_ns});
      std::erase_if(forks, [&](const plan::Fork& one) { return one.branch == fork.branch; });
      forks.push_back(fork);
    }
    return store::set_forks(job.store(), name, plan::useful_forks(forks, there));
  });
  unrecorded.hopeless = !recorded && recorded.error().code == PERDURE_UNSUPPORTED;
  if (!recorded && first) tell(job, not_recorded(name, unrecorded, recorded.error()));
  if (recorded) unrecorded = {};
}

}  // namespace

base::Result<plan::Branch> branch_to_write(Job& job, const std::string& name) {
  using Way = plan::BranchChoice::Way;
  if (const auto written = job.known().written_branch(name)) {
    if (job.known().unrecorded(name).due(os::monotonic_ns())) record_forks(job, name);
    return *written;
  }
  NameFacts found = look_at_name(job, name);
  const auto choice = plan::choose_branch(found.facts);
  if (choice.way == Way::start && choice.left && job.config().text("new_start") == "refuse")
    return base::fail(refused(name, *choice.left));
  const bool unsure = choice.way == Way::start && !choice.left && found.unseen;
  if (unsure && job.config().text("new_start") == "refuse")
    return base::fail(refused_unseen(name, std::move(*found.unseen)));
  const plan::Branch branch = choice.way == Way::same ? found.facts.from->branch : new_branch(found.branches);
  if (choice.way == Way::fork) {
    const plan::LineVersion& from = *found.facts.from;
    found.forks.push_back({branch, from.branch, from.version, from.begun_ns});
    job.known().unrecorded(name).add(found.forks.back());
  }
  job.known().observe(name, job.store(), job.config().boolean("checkpoint.replace"),
                      plan::line_of(found.forks, branch));
  record_forks(job, name);
  job.known().writes_on(name, branch);
  if (choice.left) tell(job, what_stays(name, choice, found.facts, branch));
  if (unsure) tell(job, may_stay(name, *found.unseen, branch));
  return branch;
}

void go_on_from(Job& job, const segment::VersionId& id) {
  job.known().went_on_from(id);
  if (job.rank() != 0) return;
  const auto all = states().lock();
  all->insert_or_assign(program_of(job, id.name), id);
}

void record_what_is_left(Job& job) {
  if (job.rank() != 0) return;
  for (const std::string& name : job.known().names()) {
    const UnrecordedForks& unrecorded = job.known().unrecorded(name);
    const bool worth_it = !unrecorded.forks.empty() && !unrecorded.hopeless;
    if (worth_it && job.hold(name, NameClaims::Access::write)) record_forks(job, name);
  }
}

plan::Line line_to_read(Job& job, const std::string& name, LineFacts facts) {
  const auto& unrecorded = job.known().unrecorded(name).forks;
  facts.forks.insert(facts.forks.end(), unrecorded.begin(), unrecorded.end());
  std::optional<segment::Attempt> newest;
  const auto see = [&](const segment::Attempt& attempt) { newest = newest ? std::max(*newest, attempt) : attempt; };
  for (const auto& listing : facts.listings)
    if (listing.all_present()) see(listing.id.attempt);
  for (const auto& id : job.known().complete(name)) see(id.attempt);
  for (const auto& segment : facts.aside) see(segment.id.attempt);
  if (!newest) return {};
  auto line = plan::line_of(facts.forks, plan::branch_of(newest->nonce));
  const auto last = job.known().last(name);
  if (!last || plan::on_line(line, last->attempt)) return line;
  return plan::line_of(facts.forks, plan::branch_of(last->attempt.nonce));
}

base::Result<plan::Line> line_to_read(Job& job, const std::string& name) {
  LineFacts facts;
  PERDURE_TRY(facts.listings, list_versions(job.store(), name, job.known()));
  PERDURE_TRY(facts.forks, store::forks(job.store(), name));
  auto aside = job.store().set_aside(name);
  if (!aside && aside.error().code != PERDURE_NOT_FOUND) return base::fail(std::move(aside).error());
  if (aside) facts.aside = std::move(*aside);
  return line_to_read(job, name, std::move(facts));
}

}  // namespace perdure::client
