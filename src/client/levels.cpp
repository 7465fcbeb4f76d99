#include "client/levels.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "base/field_codec.hpp"
#include "client/drain.hpp"
#include "client/kept_redundancy.hpp"
#include "client/messages.hpp"
#include "os/system.hpp"
#include "segment/manifest_codec.hpp"

namespace perdure::client {
namespace {

std::string text(const std::string& name, std::uint64_t version) {
  return name + " version " + std::to_string(version);
}

// 0 stands for ever; so do times that no clock can count.
std::uint64_t nanoseconds(double seconds) {
  if (!(seconds >= 0 && seconds < 1e9)) return 0;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(seconds * 1e9));
}

// The attempt that the program means, if this node holds it: an earlier one may be what a node has that was away, and a
// later one what the program went back from. The newest that it holds, where the program means none.
base::Result<std::optional<segment::VersionId>> held_id(Job& job, const std::string& name, std::uint64_t version) {
  PERDURE_TRY(const auto held, job.engine().inventory(name));
  const std::uint64_t meant_ns = job.known().meant(name, version);
  std::optional<segment::VersionId> newest;
  for (const auto& summary : held) {
    if (summary.id.version != version || !summary.committed) continue;
    if (meant_ns != 0 && summary.id.attempt.created_ns != meant_ns) continue;
    if (!newest || newest->attempt < summary.id.attempt) newest = summary.id;
  }
  return newest;
}

enum class Reading { names, segments };

// `since`: only that attempt, or a later one, counts.
base::Result<bool> complete_in_store(Job& job, const std::string& name, std::uint64_t version,
                                     const segment::Attempt& since, Reading reading = Reading::segments) {
  auto listings = job.store().list(name);
  if (!listings && listings.error().code == PERDURE_NOT_FOUND) return false;
  if (!listings) return base::fail(listings.error());
  return std::any_of(listings->begin(), listings->end(), [&](const auto& listing) {
    return listing.id.version == version && listing.id.attempt >= since && listing.all_present() &&
           (reading == Reading::names || store::read_version(job.store(), listing));
  });
}

/// `attempt`: the one that this node has brought to the store, or that the store has.
base::Status wait_here(Job& job, const std::string& name, std::uint64_t version, int level, std::uint64_t timeout_ns,
                       segment::Attempt& attempt) {
  PERDURE_TRY(const auto held, held_id(job, name, version));
  attempt = held ? held->attempt : segment::Attempt{job.known().meant(name, version), 0};
  if (held && level > PERDURE_LEVEL_PROCESS)
    PERDURE_CHECK(job.engine().channel().call(ipc::WaitStored{*held, timeout_ns}));
  if (held) return {};
  PERDURE_TRY(const bool stored, complete_in_store(job, name, version, attempt));
  if (stored) return {};
  return base::fail(PERDURE_NOT_FOUND, text(name, version), "neither this node nor the store has it");
}

// Engines forget what they brought to a place in the store when they hear of another one in its stead. As long as rank
// 0 has not seen the place in this launch, they remember what may be gone with it: then rank 0 looks, for all.
base::Status still_there(Job& job, const std::string& name, std::uint64_t version, const segment::Attempt& attempt) {
  if (job.rank() != 0 || job.saw_place(name)) return {};
  PERDURE_TRY(const bool there, complete_in_store(job, name, version, attempt, Reading::names));
  if (there) return {};
  return base::fail(PERDURE_UNAVAILABLE, text(name, version),
                    "it was brought to " + job.store().properties().location + ", and is not there any more",
                    "wait again, or write it again: what is still on the nodes is brought there once more", true);
}

base::Status remove_from_store(Job& job, const std::string& name, std::uint64_t version, bool& found) {
  auto listings = job.store().list(name);
  if (!listings && listings.error().code == PERDURE_NOT_FOUND) return {};
  if (!listings) return base::fail(listings.error());
  for (const auto& listing : *listings) {
    if (listing.id.version != version) continue;
    found = true;
    PERDURE_CHECK(job.store().remove(listing.id));
  }
  return {};
}

base::Result<Left> ask_drain(Job& job, std::uint64_t timeout_ns) {
  PERDURE_TRY(auto drained, job.engine().channel().call(ipc::Drain{timeout_ns}));
  return Left{drained.done,    drained.remaining,        drained.bytes,
              drained.written, std::move(drained.which), std::move(drained.why)};
}

// Two sums, and what the first of those that wait has to say.
base::Result<LeftByAll> meet(comm::Communicator& comm, const Left& mine, bool over) {
  std::array<std::uint64_t, 3> sums{mine.done ? 0U : 1U, mine.done ? 0 : mine.bytes, mine.done ? 0 : mine.written};
  PERDURE_CHECK(comm.allreduce(sums, comm::Reduce::sum));
  LeftByAll all{sums[0], sums[1], sums[2]};
  if (all.nodes == 0) return all;
  // Before those whose versions are stored, and which look after retention.
  const auto rank = static_cast<std::uint64_t>(comm.rank()), ranks = static_cast<std::uint64_t>(comm.size());
  std::array<std::uint64_t, 2> least{mine.done ? 2 * ranks : rank + (mine.versions > 0 ? 0 : ranks), over ? 0U : 1U};
  PERDURE_CHECK(comm.allreduce(least, comm::Reduce::minimum));
  all.over = least[1] == 0;
  const int first = static_cast<int>(least[0] % ranks);
  PERDURE_TRY(const auto bytes, comm::broadcast_bytes(comm, base::encode_fields(mine), first));
  PERDURE_TRY(all.first, base::decode_fields<Left>(bytes, "what is left"));
  return all;
}

// What an embedded engine has left when the time is over.
base::Status drain_engines(Job& job) {
  const DrainLimits limits{job.store().properties().location, job.config().real("engine.drain_timeout")};
  const DrainCalls calls{
      [&](std::uint64_t limit_ns) { return base::caught("close", [&] { return ask_drain(job, limit_ns); }); },
      [&](const Left& mine, bool over) { return meet(job.comm(), mine, over); },
      [&](const std::string& text) { Messages(job.config()).say(text); }, os::monotonic_ns};
  const bool asks = job.leads() && job.engine().connected();
  PERDURE_TRY(const Left left, drain(calls, {asks, job.nodes().first(), job.rank() == 0}, limits));
  if (left.versions == 0) return {};
  return base::fail(left_behind(left, limits, job.engine().directory()));
}

}  // namespace

base::Status check_version(std::int64_t version, bool or_latest) {
  if (version >= (or_latest ? PERDURE_LATEST : 0)) return {};
  return base::fail(PERDURE_INVALID_ARGUMENT, "version " + std::to_string(version), "versions are not negative");
}

base::Result<perdure_level> level_reached(Job& job, const std::string& name, std::int64_t version) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_CHECK(check_version(version));
  const auto number = static_cast<std::uint64_t>(version);
  // A version that is being written again is not at the store because an earlier attempt is; nobody can tell these
  // apart while the engine cannot be asked.
  auto held = held_id(job, name, number);
  if (!held && job.config().boolean("checkpoint.replace")) return base::fail(held.error());
  const auto* mine = held && *held ? &**held : nullptr;
  const segment::Attempt meant{job.known().meant(name, number), 0};
  auto stored = complete_in_store(job, name, number, mine == nullptr ? meant : mine->attempt);
  if (stored && *stored) return PERDURE_LEVEL_STORE;
  if (!held) return base::fail(held.error());
  if (mine != nullptr && job.group().at_node_level(*mine)) return PERDURE_LEVEL_NODE;
  if (mine != nullptr) {
    // Between the two looks its redundancy may have been dropped because the store had become whole.
    stored = complete_in_store(job, name, number, mine->attempt);
    return stored && *stored ? PERDURE_LEVEL_STORE : PERDURE_LEVEL_PROCESS;
  }
  if (!stored) return base::fail(stored.error());
  return base::fail(PERDURE_NOT_FOUND, text(name, number), "neither this node nor the store has it");
}

namespace {

// Without other nodes' help, what survives a node is what is in the store.
base::Status wait_together(Job& job, const std::string& name, std::uint64_t number, int level,
                           std::uint64_t timeout_ns) {
  if (level == PERDURE_LEVEL_NODE && job.group().joined()) {
    const std::uint64_t begun = os::monotonic_ns();
    // Of the attempt that the program went on from last the engine need not be asked first whether it has it.
    std::optional<segment::VersionId> held = job.known().last(name, number);
    const base::Status found = base::caught("wait", [&]() -> base::Status {
      if (held) return {};
      PERDURE_TRY(held, held_id(job, name, number));
      return {};
    });
    PERDURE_TRY(const bool everywhere, job.group().wait_node_level(held, timeout_ns, found));
    if (everywhere) return {};
    const std::uint64_t passed = os::monotonic_ns() - begun;
    if (timeout_ns != 0) timeout_ns = passed < timeout_ns ? timeout_ns - passed : 1;
  }
  segment::Attempt attempt;
  PERDURE_CHECK(
      agree_after(job.comm(), "wait", [&] { return wait_here(job, name, number, level, timeout_ns, attempt); }));
  if (level <= PERDURE_LEVEL_PROCESS) return {};
  return agree_after(job.comm(), "wait", [&] { return still_there(job, name, number, attempt); });
}

// An agreement names a rank; where to look is the node whose engine is gone. All ranks are in this wait, and leave it
// with an error.
base::Status naming_node(Job& job, base::Status waited) {
  if (waited) return waited;
  const auto& labels = job.nodes().labels;
  std::uint64_t node = job.engine().gone() ? job.nodes().mine : labels.size();
  if (!job.comm().allreduce(std::span(&node, 1), comm::Reduce::minimum)) return waited;
  if (node >= labels.size() || waited.error().code != PERDURE_PEER_FAILED) return waited;
  return base::fail(PERDURE_UNAVAILABLE, "node " + labels[node], "its engine is gone: " + waited.error().cause,
                    "wait again, or go on: the next call starts another one", true);
}

}  // namespace

base::Status wait_level(Job& job, const std::string& name, std::int64_t version, int level, double timeout_s,
                        base::Status ready) {
  if (ready) ready = segment::check_name(name);
  if (ready) ready = check_version(version);
  if (ready && (level < PERDURE_LEVEL_PROCESS || level > PERDURE_LEVEL_STORE))
    ready = base::fail(PERDURE_INVALID_ARGUMENT, "level " + std::to_string(level), "there is no such level");
  // Where this fails, other ranks may have called something else, and make no exchange of a wait.
  PERDURE_TRY([[maybe_unused]] const auto opened,
              job.begin({Operation::wait, name, version, static_cast<std::uint64_t>(level)}, ready));
  const auto number = static_cast<std::uint64_t>(version);
  return naming_node(job, wait_together(job, name, number, level, nanoseconds(timeout_s)));
}

base::Status read_progress(Job& job, perdure_progress& progress) {
  PERDURE_TRY(const auto reply, job.engine().channel().call(ipc::Progress{}));
  progress.bytes_pending = reply.bytes_pending;
  progress.bytes_flushed = reply.bytes_flushed;
  progress.versions_pending = reply.versions_pending;
  progress.versions_failed = reply.versions_failed;
  progress.flush_bytes_per_s = static_cast<double>(reply.flush_bytes_per_s);
  progress.last_flush_s = static_cast<double>(reply.last_flush_ns) * 1e-9;
  return {};
}

base::Result<std::string> next_report(Job& job) {
  PERDURE_TRY(auto report, job.engine().channel().call(ipc::NextReport{}));
  if (report.text) return std::move(*report.text);
  return base::fail(PERDURE_NOT_FOUND, "reports", "there is none");
}

base::Status retire_version(Job& job, const std::string& name, std::int64_t version) {
  base::Status ready = segment::check_name(name);
  if (ready) ready = check_version(version);
  if (ready) ready = job.hold(name, NameClaims::Access::write);
  PERDURE_TRY([[maybe_unused]] const auto opened, job.begin({Operation::retire, name, version}, ready));
  const auto number = static_cast<std::uint64_t>(version);
  bool found = false;
  PERDURE_CHECK(agree_after(job.comm(), "retire", [&]() -> base::Status {
    if (!job.leads()) return {};
    auto held = held_id(job, name, number);
    found = held && held->has_value();
    PERDURE_CHECK(job.engine().channel().call(ipc::Retire{name, number}));
    return {};
  }));
  // The store comes after every node has let go: no flush may publish it again.
  PERDURE_CHECK(agree_after(job.comm(), "retire", [&]() -> base::Status {
    base::Status outcome;
    if (job.comm().rank() == 0) outcome = remove_from_store(job, name, number, found);
    job.known().retired(name, number);
    return outcome;
  }));
  PERDURE_TRY(const bool anybody, on_any_rank(job.comm(), found));
  if (!anybody) return base::fail(PERDURE_NOT_FOUND, text(name, number), "there is no such version");
  return {};
}

base::Status close_job(Job& job) {
  const base::Status committed = base::caught("close", [&] { return job.engine().take_commit(); });
  Opening opening;
  opening.operation = Operation::close;
  opening.engine_lost = job.engine().gone();
  const auto opened = job.exchange(opening, {});
  base::Status outcome = opened ? base::Status() : base::Status(base::fail(opened.error()));
  const bool embedded = job.config().text("engine.mode") != "daemon";
  if (opened && embedded) outcome = drain_engines(job);
  if (outcome) outcome = committed;
  base::Status agreed = opened ? agree(job.comm(), outcome) : outcome;
  if (agreed && embedded && job.group().network_open()) agreed = drop_redundancy(job);
  job.leave();
  if (opened) (void)job.comm().barrier();
  return agreed;
}

}  // namespace perdure::client
