// Waiting for levels, looking at them, retiring, and the end of a handle.
#include <algorithm>

#include "base/json.hpp"
#include "os/system.hpp"
#include "segment/manifest_codec.hpp"
#include "session/session.hpp"

namespace perdure::session {
namespace {

std::string text(const std::string& name, std::uint64_t version) {
  return name + " version " + std::to_string(version);
}

// 0 stands for ever; so do times that no clock can count.
std::uint64_t nanoseconds(double seconds) {
  if (!(seconds >= 0 && seconds < 1e9)) return 0;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(seconds * 1e9));
}

}  // namespace

// The newest attempt at the version that this node holds.
base::Result<std::optional<segment::VersionId>> Session::held_id(const std::string& name, std::uint64_t version) {
  PERDURE_TRY(const auto held, inventory(name));
  std::optional<segment::VersionId> newest;
  for (const auto& summary : held)
    if (summary.id.version == version && summary.committed && (!newest || newest->attempt < summary.id.attempt))
      newest = summary.id;
  return newest;
}

base::Result<bool> Session::complete_in_store(const std::string& name, std::uint64_t version) {
  auto listings = store_->list(name);
  if (!listings && listings.error().code == PERDURE_NOT_FOUND) return false;
  if (!listings) return base::fail(listings.error());
  return std::any_of(listings->begin(), listings->end(), [&](const auto& listing) {
    return listing.id.version == version && listing.all_present() && store::read_version(*store_, listing);
  });
}

base::Result<perdure_level> Session::level_reached(const std::string& name, std::int64_t version) {
  PERDURE_CHECK(segment::check_name(name));
  if (version < 0)
    return base::fail(PERDURE_INVALID_ARGUMENT, "version " + std::to_string(version), "versions are not negative");
  const auto number = static_cast<std::uint64_t>(version);
  auto stored = complete_in_store(name, number);
  if (stored && *stored) return PERDURE_LEVEL_STORE;
  PERDURE_TRY(const auto held, held_id(name, number));
  if (held) {
    const auto known = protected_ns_.find(name);
    const bool everywhere = known != protected_ns_.end() && held->attempt.created_ns <= known->second;
    return everywhere ? PERDURE_LEVEL_NODE : PERDURE_LEVEL_PROCESS;
  }
  if (!stored) return base::fail(stored.error());
  return base::fail(PERDURE_NOT_FOUND, text(name, number), "neither this node nor the store has it");
}

base::Status Session::wait_here(const std::string& name, std::uint64_t version, int level, std::uint64_t timeout_ns) {
  PERDURE_TRY(const auto held, held_id(name, version));
  if (held && level > PERDURE_LEVEL_PROCESS) PERDURE_CHECK(channel_.call(ipc::WaitStored{*held, timeout_ns}));
  if (held) return {};
  PERDURE_TRY(const bool stored, complete_in_store(name, version));
  if (stored) return {};
  return base::fail(PERDURE_NOT_FOUND, text(name, version), "neither this node nor the store has it");
}

base::Status Session::wait(const std::string& name, std::int64_t version, int level, double timeout_s) {
  left_ns_ = 0;  // what is between checkpoints now is not only the application's own time
  base::Status ready = segment::check_name(name);
  if (ready && version < 0)
    ready = base::fail(PERDURE_INVALID_ARGUMENT, "version " + std::to_string(version), "versions are not negative");
  if (ready && (level < PERDURE_LEVEL_PROCESS || level > PERDURE_LEVEL_STORE))
    ready = base::fail(PERDURE_INVALID_ARGUMENT, "level " + std::to_string(level), "there is no such level");
  PERDURE_TRY([[maybe_unused]] const auto opened,
              begin({Operation::wait, name, version, static_cast<std::uint64_t>(level)}, ready));
  const auto number = static_cast<std::uint64_t>(version);
  std::uint64_t timeout_ns = nanoseconds(timeout_s);
  // Without other nodes' help, what survives a node is what is in the store.
  if (level == PERDURE_LEVEL_NODE && in_group_) {
    const std::uint64_t begun = os::monotonic_ns();
    auto held = held_id(name, number);
    PERDURE_CHECK(agree(*comm_, held ? base::Status() : base::Status(base::fail(held.error()))));
    PERDURE_TRY(const bool everywhere, wait_protected(*held, timeout_ns));
    if (everywhere) return {};
    const std::uint64_t passed = os::monotonic_ns() - begun;
    if (timeout_ns != 0) timeout_ns = passed < timeout_ns ? timeout_ns - passed : 1;
  }
  return agree(*comm_, wait_here(name, number, level, timeout_ns));
}

base::Result<perdure_progress> Session::progress() {
  PERDURE_TRY(const auto reply, channel_.call(ipc::Progress{}));
  const std::string object = "progress";
  PERDURE_TRY(progress_.bytes_pending, base::get_u64(reply, "bytes_pending", object));
  PERDURE_TRY(progress_.bytes_flushed, base::get_u64(reply, "bytes_flushed", object));
  PERDURE_TRY(progress_.versions_pending, base::get_u64(reply, "versions_pending", object));
  PERDURE_TRY(progress_.versions_failed, base::get_u64(reply, "versions_failed", object));
  PERDURE_TRY(const std::uint64_t bandwidth, base::get_u64(reply, "flush_bytes_per_s", object));
  PERDURE_TRY(const std::uint64_t flush_ns, base::get_u64(reply, "last_flush_ns", object));
  progress_.flush_bytes_per_s = static_cast<double>(bandwidth);
  progress_.last_flush_s = static_cast<double>(flush_ns) * 1e-9;
  return progress_;
}

base::Result<std::string> Session::next_report() {
  PERDURE_TRY(const auto reply, channel_.call(ipc::NextReport{}));
  if (reply.contains("report")) return base::get_text(reply, "report", "report");
  return base::fail(PERDURE_NOT_FOUND, "reports", "there is none");
}

base::Status Session::remove_from_store(const std::string& name, std::uint64_t version, bool& found) {
  auto listings = store_->list(name);
  if (!listings && listings.error().code == PERDURE_NOT_FOUND) return {};
  if (!listings) return base::fail(listings.error());
  for (const auto& listing : *listings) {
    if (listing.id.version != version) continue;
    found = true;
    PERDURE_CHECK(store_->remove(listing.id));
  }
  return {};
}

base::Status Session::retire(const std::string& name, std::int64_t version) {
  base::Status ready = segment::check_name(name);
  if (ready && version < 0)
    ready = base::fail(PERDURE_INVALID_ARGUMENT, "version " + std::to_string(version), "versions are not negative");
  PERDURE_TRY([[maybe_unused]] const auto opened, begin({Operation::retire, name, version}, ready));
  const auto number = static_cast<std::uint64_t>(version);
  base::Status outcome;
  bool found = false;
  if (leads()) {
    auto held = held_id(name, number);
    found = held && held->has_value();
    auto done = channel_.call(ipc::Retire{name, number});
    if (!done) outcome = base::fail(done.error());
  }
  // The store comes after every node has let go: no flush may publish it again.
  PERDURE_CHECK(agree(*comm_, outcome));
  if (comm_->rank() == 0) outcome = remove_from_store(name, number, found);
  // Only where the store was looked at: an empty set would say that no version exists.
  if (const auto known = taken_.find(name); known != taken_.end()) known->second.erase(number);
  whole_in_tiers_[name].erase(number);
  PERDURE_CHECK(agree(*comm_, outcome));
  std::uint64_t anybody = found ? 1 : 0;
  PERDURE_CHECK(comm_->allreduce(std::span(&anybody, 1), comm::Reduce::maximum));
  if (anybody == 0) return base::fail(PERDURE_NOT_FOUND, text(name, number), "there is no such version");
  return {};
}

base::Result<Left> Session::ask_drain(std::uint64_t timeout_ns) {
  PERDURE_TRY(const auto reply, channel_.call(ipc::Drain{timeout_ns}));
  const std::string object = "drain";
  Left left;
  PERDURE_TRY(left.versions, base::get_u64(reply, "remaining", object));
  PERDURE_TRY(left.bytes, base::get_u64(reply, "bytes", object));
  PERDURE_TRY(left.why, base::get_text(reply, "why", object));
  return left;
}

base::Status Session::close() {
  Opening opening;
  opening.operation = Operation::close;
  opening.engine_lost = channel_.engine_gone();
  base::Status outcome;
  auto opened = open_collective(*comm_, opening, {});
  if (!opened) outcome = base::fail(opened.error());
  const bool embedded = config_.text("engine.mode") != "daemon";
  const std::uint64_t timeout_ns = nanoseconds(config_.real("engine.drain_timeout"));
  const DrainCalls calls{[&](std::uint64_t limit_ns) { return ask_drain(limit_ns); },
                         [&] {
                           if (opened) (void)comm_->barrier();
                         },
                         os::monotonic_ns};
  const bool asks = outcome && embedded && leads() && channel_.connected();
  const auto left = drain(calls, {asks, nodes_.first()}, timeout_ns);
  if (outcome && !left) outcome = base::fail(left.error());
  if (outcome && left->versions > 0)
    outcome = base::fail(
        left_behind(*left, store_->properties().location, node_directory_, config_.real("engine.drain_timeout")));
  const base::Status agreed = opened ? agree(*comm_, outcome) : outcome;
  if (agreed && embedded && leads() && in_group_ && channel_.connected())
    (void)channel_.call(ipc::AllStored{static_cast<std::uint32_t>(comm_->size())});
  channel_.close();
  warmer_.stop();
  slots_.clear();
  engine_.reset();
  if (opened) (void)comm_->barrier();
  return agreed;
}

}  // namespace perdure::session
