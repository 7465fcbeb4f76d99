#include "engine/serve/capture_steps.hpp"

#include <algorithm>

#include "engine/flush/flusher.hpp"
#include "engine/ledger/on_their_way.hpp"
#include "engine/peers/node_group.hpp"
#include "engine/serve/reply_parts.hpp"

namespace perdure::engine {
namespace {

bool holds_newer(const catalog::State& state, const segment::VersionId& id) {
  for (auto it = state.versions.lower_bound({id.name, 0, {}}); it != state.versions.end() && it->first.name == id.name;
       ++it)
    if (it->first.attempt.created_ns > id.attempt.created_ns) return true;
  return false;
}

// Residue of dead engines may give room.
std::optional<base::Result<ipc::Granted>> refuse_unless_room_comes(ServeContext& context, const Asked& asked,
                                                                   const base::Error& error) {
  if (error.code == PERDURE_NO_SPACE && !asked.timed_out && context.room_look.wants(LookWanted::room))
    return std::nullopt;
  return base::fail(context.room_look.explained(error));
}

std::optional<base::Result<ipc::Granted>> try_grant(ServeContext& context, const Asked& asked,
                                                    const ipc::Grant& grant) {
  const std::uint64_t waiting = std::max<std::uint64_t>(context.waiting.in_turn(), 1);
  GrantOutcome outcome;
  bool first_is_full = false, room_may_come = false;
  {
    const auto ledger = context.ledger.lock();
    // Residue of dead engines is reclaimed before any unstored version is dropped.
    room_may_come = !asked.timed_out && ledger->store_failing() && context.room_look.may_find_room();
    outcome = ledger->grants.grant(asked.client, grant,
                                   {waiting, context.rank_of(asked.client), asked.timed_out, room_may_come});
    first_is_full = outcome.address.tier != 0 && !ledger->tiers()[0]->can_hold(grant.bytes);
  }
  if (outcome.kind == GrantOutcome::Kind::granted) {
    if (first_is_full) (void)context.room_look.wants(LookWanted::more);
    return ipc::Granted{address_in_message(outcome.address)};
  }
  if (outcome.kind == GrantOutcome::Kind::refused) return refuse_unless_room_comes(context, asked, outcome.error);
  (void)context.room_look.wants(room_may_come ? LookWanted::room : LookWanted::more);
  if (asked.timed_out)
    return base::fail(
        timed_out(grant.id.text(), "no slot became free in time: the store takes data too slowly, or not at all"));
  return std::nullopt;
}

// A reader or redundancy may have kept a version at the last commit, and need it no more.
bool skip_for_room(ServeContext& context, const std::string& name) {
  std::vector<segment::VersionId> skipped;
  {
    const auto ledger = context.ledger.lock();
    skipped = context.skipped.skip(*ledger, name);
  }
  tell_group_gone(context, skipped);
  return !skipped.empty();
}

base::Result<ipc::Granted> answer_at_once(ServeContext& context, const Asked& asked, const ipc::Grant& grant) {
  bool newer = context.newest_begun[grant.id.name] > grant.id.attempt.created_ns;
  if (!newer) {
    const auto ledger = context.ledger.lock();
    newer = holds_newer(ledger->catalog().state(), grant.id);
  }
  if (!asked.behind && !newer)
    if (auto answer = try_grant(context, asked, grant)) return *answer;
  return base::fail(timed_out(grant.id.text(), newer ? "a newer attempt was begun" : "no slot is free at once"));
}

}  // namespace

void tell_group_capturing(ServeContext& context, const segment::VersionId& id) {
  if (context.options.group != nullptr) context.options.group->capturing(id);
}

void tell_group_gone(ServeContext& context, const std::vector<segment::VersionId>& ids) {
  if (context.options.group == nullptr) return;
  for (const auto& id : ids) context.options.group->gone(id);
}

// A version that this node held once may be in the store alone by now.
void begin_capture(ServeContext& context, ClientId client, const ipc::Begin& begin) {
  std::uint64_t& newest = context.newest_begun[begin.id.name];
  newest = std::max(newest, begin.id.attempt.created_ns);
  {
    const auto ledger = context.ledger.lock();
    ledger->grants.begin_capture(client, begin);
  }
  tell_group_capturing(context, begin.id);
}

bool is_at_once(const ipc::Grant& grant) { return grant.at_once; }

std::optional<base::Result<ipc::Granted>> answer_grant(ServeContext& context, const Asked& asked,
                                                       const ipc::Grant& grant) {
  if (grant.at_once) return answer_at_once(context, asked, grant);
  auto answer = try_grant(context, asked, grant);
  if (!answer && skip_for_room(context, grant.id.name)) answer = try_grant(context, asked, grant);
  if (answer) return answer;
  if (context.options.group != nullptr) context.options.group->release_room();
  context.flusher.let_all_flush();  // nor does a flush wait for this version's redundancy
  return answer;
}

void grant_waited(ServeContext& context, double seconds) {
  const auto ledger = context.ledger.lock();
  ledger->counters().slot_wait_s.observe(seconds);
}

std::optional<base::Status> take_written(ServeContext& context, ClientId client, const ipc::Written& written) {
  std::optional<base::Status> status;
  {
    const auto ledger = context.ledger.lock();
    status = ledger->writes.written(client, written);
  }
  if (status) tell_group_capturing(context, written.id);
  return status;
}

// The catalog is usually on the file system of the first tier.
base::Result<ipc::Staged> stage_piece(ServeContext& context, ClientId client, const ipc::Stage& stage) {
  base::Status status;
  {
    const auto ledger = context.ledger.lock();
    status = ledger->held.stage(client, stage);
    if (status) return ipc::Staged{busy(*ledger, stage.id.name)};
  }
  if (status.error().code != PERDURE_NO_SPACE) return base::fail(status.error());
  (void)context.room_look.wants(LookWanted::more);
  return base::fail(context.room_look.explained(status.error()));
}

}  // namespace perdure::engine
