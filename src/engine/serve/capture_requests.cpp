// Handles requests of ranks that write a checkpoint.
#include "engine/flush/flusher.hpp"
#include "engine/peers/node_group.hpp"
#include "engine/pipeline/pipeline.hpp"
#include "engine/serve/capture_steps.hpp"
#include "engine/serve/handlers.hpp"
#include "engine/serve/reply_parts.hpp"
#include "os/crash_point.hpp"
#include "os/system.hpp"

namespace perdure::engine {
namespace {

using ipc::Done;

base::Result<Done> launch_nodes(ServeContext& context, ClientId, const ipc::LaunchNodes& launch) {
  const auto ledger = context.ledger.lock();
  ledger->held.launch(launch);
  return Done{};
}

base::Result<ipc::Reserved> reserve(ServeContext& context, ClientId client, const ipc::Reserve& reserve) {
  ipc::Reserved reply;
  const auto ledger = context.ledger.lock();
  for (const auto& [address, bytes] : ledger->grants.reserve(client, reserve.chunk_bytes))
    reply.slots.push_back({address_in_message(address), bytes});
  return reply;
}

WaitReason why_grant(NodeState& ledger, const Queued& who, const ipc::Grant&) {
  return why_no_slot(ledger, who.client, who.head);
}

void give_back(ServeContext& context, ClientId client, const ipc::GiveBack& back) {
  const auto ledger = context.ledger.lock();
  ledger->writes.give_back(client, back);
}

void note_written(ServeContext& context, ClientId client, const ipc::Written& written) {
  os::crash_point(os::CrashPoint::engine_written);
  (void)take_written(context, client, written);
}

std::optional<base::Result<Done>> answer_written(ServeContext& context, const Asked& asked,
                                                 const ipc::AwaitWritten& message) {
  if (asked.first) os::crash_point(os::CrashPoint::engine_written);
  const auto status = take_written(context, asked.client, message.written);
  return status ? std::optional(done(*status)) : std::nullopt;
}

WaitReason why_written(NodeState& ledger, const Queued&, const ipc::AwaitWritten& message) {
  return why_not_written(ledger, message.written.tier);
}

// A little later than the device says, so that the write is over in spite of rounding.
std::uint64_t written_again_ns(ServeContext& context, const ipc::AwaitWritten& message) {
  const auto ledger = context.ledger.lock();
  const double seconds = ledger->writes.ask_again_in_s(message.written);
  return os::monotonic_ns() + static_cast<std::uint64_t>(std::min(seconds, 3600.0) * 1e9) + 1000;
}

void step(ServeContext& context, ClientId client, const ipc::Step& step) {
  {
    const auto ledger = context.ledger.lock();
    ledger->step(client, static_cast<double>(step.ns) * 1e-9);
  }
  context.flusher.look_at_application();
}

base::Result<Done> commit(ServeContext& context, ClientId, const ipc::Commit& commit) {
  base::Status status;
  bool news = false;  // the flusher or the redundancy has something to do
  std::vector<segment::VersionId> skipped;
  {
    const auto ledger = context.ledger.lock();
    const catalog::HeldVersion* before = ledger->find(commit.id);
    const bool again = before != nullptr && before->committed;
    const auto known = again ? before->segments : std::vector<catalog::LocalSegment>();
    status = ledger->held.commit(commit);
    if (status && !again) skipped = context.skipped.skip(*ledger, commit.id.name);
    if (status && !again) context.pipeline.admit(*ledger, commit.id, commit.recovered);
    news = status && (!again || commit.recovered || ledger->find(commit.id)->segments != known);
  }
  tell_group_gone(context, skipped);
  if (news) context.pipeline.committed(commit.id, commit.recovered);
  return done(status);
}

// The engine sees here what the ranks would learn by asking each other: with the last piece the commit succeeds. Before
// that it fails because a piece is missing. If it fails for another reason, so does the ranks' own commit.
base::Result<ipc::Staged> stage(ServeContext& context, ClientId client, const ipc::Stage& stage) {
  PERDURE_TRY(const auto staged, stage_piece(context, client, stage));
  if (!stage.when_whole.empty())
    (void)base::caught(stage.id, [&] { return commit(context, client, {stage.id, stage.when_whole}); });
  return staged;
}

// It also refuses the client's waiting requests for slots of that version.
base::Result<Done> abort(ServeContext& context, ClientId client, const ipc::Abort& abort) {
  context.waiting.refuse<ipc::Grant>(context, client, [&](const ipc::Grant& grant) { return grant.id == abort.id; },
                                     {PERDURE_PEER_FAILED, abort.id.text(), "the checkpoint was aborted", "", true});
  base::Status status;
  {
    const auto ledger = context.ledger.lock();
    status = ledger->held.abort(client, abort.id);
  }
  tell_group_capturing(context, abort.id);
  return done(status);
}

base::Result<Done> keep_remains(ServeContext& context, ClientId, const ipc::KeepRemains& keep) {
  const auto ledger = context.ledger.lock();
  ledger->held.keep_remains(keep.id);
  return Done{};
}

}  // namespace

void enrol_capture_handlers(Handlers& handlers) {
  handlers.on<ipc::LaunchNodes>(launch_nodes);
  handlers.on<ipc::Reserve>(reserve);
  handlers.on<ipc::Begin>(begin_capture);
  handlers.on(Waiter<ipc::Grant>{answer_grant, why_grant, {true, true}, nullptr, grant_waited, nullptr, is_at_once});
  handlers.on<ipc::GiveBack>(give_back);
  handlers.on<ipc::Written>(note_written);
  handlers.on(Waiter<ipc::AwaitWritten>{answer_written, why_written, {}, written_again_ns});
  handlers.on<ipc::Stage>(stage);
  handlers.on<ipc::Step>(step);
  handlers.on<ipc::Commit>(commit);
  handlers.on<ipc::Abort>(abort);
  handlers.on<ipc::KeepRemains>(keep_remains);
}

}  // namespace perdure::engine
