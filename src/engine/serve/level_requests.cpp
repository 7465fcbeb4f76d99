// Handles requests about the levels that versions reach, and the work left for them.
#include "engine/flush/flusher.hpp"
#include "engine/peers/node_group.hpp"
#include "engine/pipeline/pipeline.hpp"
#include "engine/serve/handlers.hpp"
#include "engine/serve/reply_parts.hpp"
#include "engine/upkeep/janitor.hpp"

namespace perdure::engine {
namespace {

// The node holds nothing of the version. If it was skipped, a newer version answers the request.
std::optional<base::Result<ipc::StoreOutcome>> newer_stored(ServeContext& context, const NodeState& ledger,
                                                            const Asked& asked, const ipc::WaitStored& wait) {
  using State = SkippedVersions::Outcome::State;
  const auto outcome = context.skipped.outcome(ledger, wait.id);
  switch (outcome.state) {
    case State::unknown:
      return ipc::StoreOutcome{false};
    case State::stored:
      if (context.skipped.tell_once(wait.id))
        context.reports.add(wait.id.text() +
                            " was skipped, as retention would have removed it from the store: version " +
                            std::to_string(outcome.newer) + " is there");
      return ipc::StoreOutcome{false, outcome.newer};
    case State::coming:
      if (!asked.timed_out) return std::nullopt;
      return base::fail(timed_out(wait.id.text(), "it was skipped, and nothing newer reached the store in time"));
    case State::lost:
      break;
  }
  if (outcome.error) return base::fail(*outcome.error);
  return base::fail(PERDURE_UNAVAILABLE, wait.id.text(),
                    "it was skipped for newer versions, and none of them is on its way to the store any more");
}

std::optional<base::Result<ipc::StoreOutcome>> stored_or_hopeless(ServeContext& context, const Asked& asked,
                                                                  const ipc::WaitStored& wait) {
  const auto ledger = context.ledger.lock();
  const catalog::HeldVersion* held = ledger->find(wait.id);
  if (ledger->lost(wait.id))
    return base::fail(PERDURE_NO_SPACE, wait.id.text(),
                      "it was given up before it reached the store, to make room for newer ones",
                      "mend the store, or give the tiers more room");
  if (held == nullptr) return newer_stored(context, *ledger, asked, wait);
  if (held->all_stored()) return ipc::StoreOutcome{true};
  const Version* run = ledger->version(wait.id);
  if (run != nullptr && run->flush == FlushPhase::given_up && run->error) return base::fail(*run->error);
  if (asked.timed_out && run != nullptr && run->error) {
    base::Error error = *run->error;
    error.cause += " (still being retried)";
    error.code = PERDURE_TIMEOUT;
    return base::fail(std::move(error));
  }
  if (asked.timed_out) return base::fail(timed_out(wait.id.text(), "it did not reach the store in time"));
  return std::nullopt;
}

std::optional<base::Result<ipc::StoreOutcome>> answer_wait_stored(ServeContext& context, const Asked& asked,
                                                                  const ipc::WaitStored& wait) {
  if (asked.first) {
    {
      const auto ledger = context.ledger.lock();
      // The node may have skipped it. Then any newer version answers the wait.
      const bool held = ledger->find(wait.id) != nullptr;
      ledger->flushes.let_flush(held ? std::optional(wait.id) : std::nullopt);
    }
    context.flusher.notify();
  }
  auto answer = stored_or_hopeless(context, asked, wait);
  if (answer)
    context.skipped.answered(asked.client);
  else
    context.skipped.awaited(asked.client, wait.id);
  return answer;
}

WaitReason why_wait_stored(NodeState& ledger, const Queued&, const ipc::WaitStored& wait) {
  return why_not_flushed(ledger, wait.id);
}

// A version in the store is safe from the loss of this node, too.
std::optional<base::Result<ipc::NodeLevelOutcome>> answer_wait_node_level(ServeContext& context, const Asked& asked,
                                                                          const ipc::WaitNodeLevel& wait) {
  NodeGroup* group = context.options.group;
  if (group == nullptr || !group->joined()) return ipc::NodeLevelOutcome{false};
  const Replicator::State state = group->state(wait.id);
  const auto missing = group->missing_member();  // without the ledger
  const auto ledger = context.ledger.lock();
  const ipc::NodeLevelOutcome reply{ledger->redundancy.promise(wait.id)};
  // Waiting does not bring back a level that was reached and lost.
  if (reply.reached || state.reached || state.failed) return reply;
  const catalog::HeldVersion* held = ledger->find(wait.id);
  const Version* run = ledger->version(wait.id);
  const bool hopeless = run != nullptr && run->flush == FlushPhase::given_up;
  if (held == nullptr || hopeless) return reply;
  // If its pieces came from other nodes, which bring them to the store, the store may have nothing of it yet.
  if (state.stored || (held->all_stored() && !state.under_way)) return reply;
  if (missing) return base::fail(*missing);
  if (asked.timed_out) return base::fail(timed_out(wait.id.text(), "it did not reach level node in time"));
  return std::nullopt;
}

WaitReason why_wait_node_level(NodeState&, const Queued&, const ipc::WaitNodeLevel& wait) {
  return {"redundancy", wait.id.text() + " is being replicated to other nodes"};
}

base::Result<ipc::AttemptsAtNodeLevel> at_node_level(ServeContext& context, ClientId, const ipc::AtNodeLevel& at) {
  const auto ledger = context.ledger.lock();
  return ipc::AttemptsAtNodeLevel{ledger->redundancy.promised_ns(at.name)};
}

void note_superseded(ServeContext& context, ClientId, const ipc::Superseded& superseded) {
  if (context.options.group != nullptr)
    context.options.group->superseded(superseded.name, superseded.attempt_ns,
                                      {superseded.keep.begin(), superseded.keep.end()});
}

base::Result<ipc::FlushProgress> progress(ServeContext& context, ClientId, const ipc::Progress&) {
  const auto ledger = context.ledger.lock();
  const Counters& counters = ledger->counters();
  ipc::FlushProgress reply;
  reply.bytes_pending = ledger->pending_bytes();
  reply.versions_pending = ledger->pending_versions();
  reply.versions_failed = ledger->given_up_versions();
  reply.bytes_flushed = counters.stored_bytes;
  reply.flush_bytes_per_s = static_cast<std::uint64_t>(counters.flush_bytes_per_s.mean());
  reply.last_flush_ns = static_cast<std::uint64_t>(counters.last_flush_s * 1e9);
  reply.bytes_moved = counters.flushed_chunk_bytes;
  reply.store_failing = ledger->store_failing();
  return reply;
}

std::optional<base::Result<ipc::Drained>> answer_drain(ServeContext& context, const Asked& asked, const ipc::Drain&) {
  if (asked.first) {
    context.janitor.enforce_all();
    context.flusher.let_all_flush();
  }
  const auto ledger = context.ledger.lock();
  const bool stored = context.flusher.idle() && ledger->pending_versions() == 0;
  const bool done = stored && context.pipeline.idle() && context.janitor.idle();
  if (!done && !asked.timed_out) return std::nullopt;
  const auto error = ledger->last_flush_error();
  ipc::Drained drained;
  drained.done = done;
  drained.remaining = ledger->pending_versions() + ledger->given_up_versions();
  drained.bytes = ledger->pending_bytes();
  for (const auto& [id, version] : ledger->tracked())
    if (version.flush == FlushPhase::running && version.life == Life::committed)
      drained.written += version.bytes_flushed;
  drained.which = names_not_stored(*ledger);
  if (error) drained.why = error->object + ": " + error->cause;
  return drained;
}

WaitReason why_drain(NodeState& ledger, const Queued&, const ipc::Drain&) { return why_not_drained(ledger); }

}  // namespace

void enrol_level_handlers(Handlers& handlers) {
  handlers.on(Waiter<ipc::WaitStored>{answer_wait_stored, why_wait_stored, {false, true}});
  handlers.on(Waiter<ipc::WaitNodeLevel>{answer_wait_node_level, why_wait_node_level});
  handlers.on<ipc::AtNodeLevel>(at_node_level);
  handlers.on<ipc::Superseded>(note_superseded);
  handlers.on<ipc::Progress>(progress);
  handlers.on(Waiter<ipc::Drain>{answer_drain, why_drain, {false, true}});
}

}  // namespace perdure::engine
