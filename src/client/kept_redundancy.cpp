#include "client/kept_redundancy.hpp"

#include <algorithm>
#include <set>

#include "base/field_codec.hpp"

namespace perdure::client {
namespace {

// [collective] Gathers at rank 0 the names of which the job's nodes keep redundancy.
base::Result<std::set<std::string>> gather_names(Job& job) {
  ipc::Names mine;
  if (job.leads() && job.engine().connected())
    if (auto kept = base::caught("engine", [&] { return job.engine().channel().call(ipc::KeptNames{job.ranks()}); }))
      mine = std::move(*kept);
  std::set<std::string> names;
  PERDURE_CHECK(comm::tell_all(job.comm(), job.leader(), base::encode_fields(mine),
                               [&](std::size_t, base::ConstByteSpan told) -> base::Status {
                                 if (job.rank() != 0) return {};
                                 PERDURE_TRY(const auto kept, base::decode_fields<ipc::Names>(told, "names"));
                                 names.insert(kept.names.begin(), kept.names.end());
                                 return {};
                               }));
  return names;
}

std::optional<plan::Branch> branch_of_last(Job& job, const std::string& name) {
  const auto last = job.known().last(name);
  return last ? std::optional(plan::branch_of(last->attempt.nonce)) : std::nullopt;
}

base::Status drop_here(Job& job, std::vector<ipc::StoredName> stored) {
  if (!job.leads() || !job.engine().connected()) return {};
  PERDURE_TRY(const auto kept, job.engine().channel().call(ipc::AllStored{job.ranks(), std::move(stored)}));
  if (kept.versions.empty()) return {};
  base::Error error = still_kept(kept.versions, job.store().properties().location, job.engine().directory());
  (void)job.engine().channel().call(ipc::Note{error.text()});
  return base::fail(std::move(error));
}

}  // namespace

// Older versions of the run need not be complete: no program goes back to them any more.
std::vector<ipc::StoredName> stored_runs(store::Store& store, const std::string& name,
                                         const std::optional<plan::Branch>& used) {
  std::vector<ipc::StoredName> runs;
  if (const std::uint64_t forgotten_ns = store.forgotten(name).value_or(0); forgotten_ns != 0)
    runs.push_back({name, forgotten_ns, used.has_value(), {}});
  auto listings = store.list(name);
  const auto forks = store::forks(store, name);
  if (!listings || !forks) return runs;
  std::sort(listings->begin(), listings->end(),
            [](const auto& a, const auto& b) { return a.id.attempt > b.id.attempt; });
  std::set<plan::Branch> branches;
  if (used) branches.insert(*used);
  for (const auto& listing : *listings) branches.insert(plan::branch_of(listing.id.attempt.nonce));
  for (const plan::Fork& fork : *forks) branches.insert({fork.branch, fork.parent});
  std::set<plan::Branch> roots;  // branches of runs that have a complete version
  for (const auto& listing : *listings) {
    const auto root = plan::line_of(*forks, plan::branch_of(listing.id.attempt.nonce)).back().branch;
    if (roots.contains(root) || !listing.all_present() || !store::read_version(store, listing)) continue;
    roots.insert(root);
    ipc::StoredName run{name, listing.id.attempt.created_ns, used && plan::related(*forks, *used, root), {}};
    for (const plan::Branch branch : branches)
      if (plan::related(*forks, branch, root)) run.branches.push_back(branch);
    runs.push_back(std::move(run));
  }
  return runs;
}

// Rank 0 looks, once for each name.
base::Result<std::vector<ipc::StoredName>> look_at_store(Job& job) {
  auto names = gather_names(job);
  std::vector<ipc::StoredName> stored;
  if (names && job.rank() == 0)
    base::attempt([&] {
      names->merge(job.known().names());
      for (const auto& name : *names)
        for (auto& run : stored_runs(job.store(), name, branch_of_last(job, name))) stored.push_back(std::move(run));
    });
  PERDURE_CHECK(agree(job.comm(), names ? base::Status() : base::Status(base::fail(names.error()))));
  PERDURE_TRY(const auto bytes, comm::broadcast_bytes(job.comm(), base::encode_fields(stored), 0));
  return base::decode_fields<std::vector<ipc::StoredName>>(bytes, "what is stored");
}

base::Status drop_redundancy(Job& job) {
  PERDURE_TRY(auto stored, look_at_store(job));
  return agree_after(job.comm(), "close", [&] { return drop_here(job, std::move(stored)); });
}

base::Error still_kept(const std::vector<segment::VersionId>& versions, const std::string& store,
                       const std::string& node_directory) {
  const auto newest = std::max_element(versions.begin(), versions.end(),
                                       [](const auto& a, const auto& b) { return a.attempt < b.attempt; });
  const std::string number = std::to_string(newest->version), others = std::to_string(versions.size() - 1);
  return {PERDURE_INCOMPLETE, store,
          "it does not have " + newest->name + " version " + number +
              (versions.size() > 1 ? " (and " + others + " more)" : "") +
              " whole; the redundancy from which its missing parts may be rebuilt stays on this node in " +
              node_directory,
          "start the program again on the same nodes and restore that version, which completes it; or give it up "
          "with perdure forget " +
              newest->name,
          false};
}

}  // namespace perdure::client
