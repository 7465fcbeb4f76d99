#include "client/levels.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "base/field_codec.hpp"
#include "client/branch_to_write.hpp"
#include "os/system.hpp"
#include "segment/manifest_codec.hpp"

namespace perdure::client {
namespace {

std::string text(const std::string& name, std::uint64_t version) {
  return name + " version " + std::to_string(version);
}

// 0 means for ever; so do times that no clock can count.
std::uint64_t nanoseconds(double seconds) {
  if (!(seconds >= 0 && seconds < 1e9)) return 0;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(seconds * 1e9));
}

// Gives the attempt that the program means, if this node holds it. A node that was away may have an earlier one. It may
// have a later one that the program went back from. If the program means none, gives the newest that it holds.
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

// Only attempt `since`, or a later one, counts.
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

base::Error nowhere(const std::string& name, std::uint64_t version) {
  return {PERDURE_NOT_FOUND, text(name, version), "neither this node nor the store has it", "", false};
}

/// The result of a wait at this rank.
struct Waited {
  segment::Attempt attempt;  ///< the attempt that this node has brought to the store, or that the store has
  bool skipped = false;      ///< a newer version is there in its stead; or, if that will do, is on its way
  bool unseen = false;       ///< this node does not have it, and the store not completely: other nodes may know of it
  std::optional<std::uint64_t> newer = {};  ///< the number of that newer version
};

// A skipped version would be gone from the store by now: a newer one is as good, and is told. On its way there, the
// newer one has at least reached level process.
base::Result<Waited> newer_makes_up(Job& job, const segment::VersionId& id, int level, std::uint64_t timeout_ns) {
  const bool on_its_way_will_do = level <= PERDURE_LEVEL_PROCESS;
  const auto outcome = job.engine().channel().call(ipc::WaitStored{id, on_its_way_will_do ? 1 : timeout_ns});
  if (!outcome && outcome.error().code == PERDURE_TIMEOUT && on_its_way_will_do) return Waited{id.attempt, true};
  if (!outcome) return base::fail(outcome.error());
  if (outcome->newer && job.rank() == 0)
    Messages(job.config())
        .say(text(id.name, id.version) + " was skipped, as retention would have removed it: version " +
             std::to_string(*outcome->newer) + " is in the store");
  return Waited{id.attempt, outcome->newer.has_value(), false, outcome->newer};
}

base::Result<Waited> wait_here(Job& job, const std::string& name, std::uint64_t version, int level,
                               std::uint64_t timeout_ns) {
  PERDURE_TRY(const auto held, held_id(job, name, version));
  if (held && level <= PERDURE_LEVEL_PROCESS) return Waited{held->attempt};
  const segment::Attempt attempt = held ? held->attempt : segment::Attempt{job.known().meant(name, version), 0};
  PERDURE_TRY(const Waited waited,
              newer_makes_up(job, held.value_or(segment::VersionId{name, version, attempt}), level, timeout_ns));
  if (held || waited.skipped) return waited;
  PERDURE_TRY(const bool stored, complete_in_store(job, name, version, attempt));
  const bool others_may = !stored && job.nodes().labels.size() > 1;
  if (!stored && !others_may) return base::fail(nowhere(name, version));
  return Waited{attempt, false, others_may};
}

// Engines forget the versions that they brought to a store place when they hear of another incarnation. Until rank 0
// has seen the place in this launch, they may remember versions that are gone with it. Then rank 0 looks, for all.
base::Status still_there(Job& job, const std::string& name, std::uint64_t version, const segment::Attempt& attempt) {
  if (job.rank() != 0 || job.names().saw_place(name)) return {};
  PERDURE_TRY(const bool there, complete_in_store(job, name, version, attempt, Reading::names));
  if (there) return {};
  return base::fail(PERDURE_UNAVAILABLE, text(name, version),
                    "it was brought to " + job.store().properties().location + ", and is not there any more",
                    "wait again, or write it again: what is still on the nodes is brought there once more", true);
}

// Checks the store, once all nodes have brought their part there.
base::Status is_whole_now(Job& job, const std::string& name, std::uint64_t version, const Waited& waited) {
  if (waited.skipped) return {};
  if (!waited.unseen) return still_there(job, name, version, waited.attempt);
  PERDURE_TRY(const bool stored, complete_in_store(job, name, version, waited.attempt));
  return stored ? base::Status() : base::Status(base::fail(nowhere(name, version)));
}

bool is_of(const plan::Line& line, const segment::VersionId& id) {
  return line.empty() || plan::on_line(line, id.attempt);
}

base::Status remove_from_store(Job& job, const std::string& name, std::uint64_t version, const plan::Line& line,
                               bool& found) {
  auto listings = job.store().list(name);
  if (!listings && listings.error().code == PERDURE_NOT_FOUND) return {};
  if (!listings) return base::fail(listings.error());
  for (const auto& listing : *listings) {
    if (listing.id.version != version || !is_of(line, listing.id)) continue;
    found = true;
    PERDURE_CHECK(job.store().remove(listing.id));
  }
  return {};
}

/// Rank 0's message about a name's line.
struct ToldLine {
  plan::Line line;
  std::optional<base::Error> unknown;
  PERDURE_FIELDS(line, unknown)
};

// [collective] Gives the line that a plain number of this name means. If rank 0 cannot know it, all ranks fail: an
// empty line would mean the number on all branches.
base::Result<plan::Line> line_of_all(Job& job, const std::string& name) {
  ToldLine told;
  std::vector<std::byte> bytes;
  if (job.rank() == 0) {
    auto line = base::caught("branch", [&] { return line_to_read(job, name); });
    if (line)
      told.line = std::move(*line);
    else
      told.unknown = std::move(line).error();
    bytes = base::encode_fields(told);
  }
  PERDURE_TRY(bytes, comm::broadcast_bytes(job.comm(), std::move(bytes), 0));
  PERDURE_TRY(told, base::decode_fields<ToldLine>(bytes, "line of versions"));
  if (told.unknown) return base::fail(std::move(*told.unknown));
  return std::move(told.line);
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
  // An earlier attempt at the store does not mean that the version being written again is there. Nobody can tell these
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
    // Between the two looks its redundancy may have been dropped because the store had become complete.
    stored = complete_in_store(job, name, number, mine->attempt);
    return stored && *stored ? PERDURE_LEVEL_STORE : PERDURE_LEVEL_PROCESS;
  }
  if (!stored) return base::fail(stored.error());
  return base::fail(nowhere(name, number));
}

namespace {

// [collective] Each node skips versions by itself (docs/adr/0050). Some may have this one in the store, and others a
// newer one. Gives the newest of these, which all are to wait for. Empty: all have the same.
base::Result<std::optional<std::uint64_t>> skipped_elsewhere(Job& job, const Waited& waited) {
  if (job.nodes().labels.size() == 1) return std::nullopt;
  const std::uint64_t mine = waited.newer ? *waited.newer + 1 : 0;
  std::uint64_t all[] = {mine, ~mine};
  PERDURE_CHECK(job.comm().allreduce(all, comm::Reduce::maximum));
  return all[0] == ~all[1] ? std::nullopt : std::optional(all[0] - 1);
}

// Without other nodes' help, only versions in the store survive the loss of a node.
base::Status wait_together(Job& job, const std::string& name, std::uint64_t number, int level,
                           std::uint64_t timeout_ns) {
  if (level == PERDURE_LEVEL_NODE && job.group().joined()) {
    const std::uint64_t begun = os::monotonic_ns();
    // The engine need not be asked for the attempt that the program went on from last.
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
  Waited waited;
  std::uint64_t left_ns = timeout_ns;
  const std::uint64_t begun = os::monotonic_ns();
  for (;;) {
    PERDURE_CHECK(agree_after(job.comm(), "wait", [&]() -> base::Status {
      if (std::exchange(waited.newer, {}) == number) return {};
      PERDURE_TRY(waited, wait_here(job, name, number, level, left_ns));
      return {};
    }));
    if (level <= PERDURE_LEVEL_PROCESS) return {};
    PERDURE_TRY(const auto other, skipped_elsewhere(job, waited));
    if (!other) break;
    number = *other;
    const std::uint64_t passed = os::monotonic_ns() - begun;
    if (timeout_ns != 0) left_ns = passed < timeout_ns ? timeout_ns - passed : 1;
  }
  return agree_after(job.comm(), "wait", [&] { return is_whole_now(job, name, number, waited); });
}

// An agreement names a rank, but the user needs the node whose engine is gone. All ranks are in this wait, and leave it
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
  // If this fails, other ranks may have called something else, and make no exchange of a wait.
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
  PERDURE_TRY(const plan::Line line, line_of_all(job, name));
  PERDURE_CHECK(agree_after(job.comm(), "retire", [&]() -> base::Status {
    if (!job.leads()) return {};
    auto held = held_id(job, name, number);
    found = held && held->has_value() && is_of(line, **held);
    ipc::Retire retire{name, number};
    retire.line = line;
    PERDURE_CHECK(job.engine().channel().call(retire));
    return {};
  }));
  // The store comes after every node has given it up: no flush may publish it again.
  PERDURE_CHECK(agree_after(job.comm(), "retire", [&]() -> base::Status {
    base::Status outcome;
    if (job.comm().rank() == 0) outcome = remove_from_store(job, name, number, line, found);
    job.known().retired(name, number, line);
    return outcome;
  }));
  PERDURE_TRY(const bool anybody, on_any_rank(job.comm(), found));
  if (!anybody) return base::fail(PERDURE_NOT_FOUND, text(name, number), "there is no such version");
  return {};
}

}  // namespace perdure::client
