// Handles requests that concern the other nodes of the job.
#include "engine/ledger/redundancy_share.hpp"
#include "engine/peers/node_group.hpp"
#include "engine/serve/handlers.hpp"
#include "engine/serve/reply_parts.hpp"

namespace perdure::engine {
namespace {

using ipc::Done;

// Handles that share an engine share one network, which the first of them opened. The key of another launch of the job
// counts only when no client of the earlier one is connected any more.
base::Result<ipc::NetworkAddress> open_network(ServeContext& context, ClientId client, const ipc::OpenNetwork& open) {
  if (context.options.group == nullptr) return base::fail(no_network("network"));
  if (context.network_client != client && context.connections.has(context.network_client))
    return base::fail(PERDURE_BUSY, "network", "another handle of this node uses it");
  context.network_client = client;
  PERDURE_TRY(auto address, context.options.group->open_network(open.job_key));
  return ipc::NetworkAddress{std::move(address)};
}

base::Result<Done> join(ServeContext& context, ClientId, const ipc::Join& join) {
  if (context.options.group == nullptr) return base::fail(no_network("group"));
  return done(context.options.group->join(join));
}

void count_recovery(ServeContext& context, const base::Result<ipc::Recovered>& result) {
  const auto ledger = context.ledger.lock();
  Counters& counters = ledger->counters();
  ++(result ? counters.recoveries : counters.recoveries_failed);
  if (!result) return;
  for (const auto& rank : result->ranks) {
    counters.fetched_bytes += rank.bytes_moved;
    counters.rebuilt_bytes += rank.bytes_rebuilt;
  }
}

std::optional<base::Result<ipc::Recovered>> answer_recover(ServeContext& context, const Asked& asked,
                                                           const ipc::Recover& recover) {
  if (context.options.group == nullptr) return base::fail(no_network(recover.id.text()));
  auto result = context.options.group->recover(asked.client, recover);
  if (result) count_recovery(context, *result);
  return result;
}

WaitReason why_recover(NodeState&, const Queued&, const ipc::Recover& recover) {
  return {"recovery", recover.id.text() + " is being fetched or rebuilt"};
}

base::Result<ipc::ReplicatingAgain> replicate_again(ServeContext& context, ClientId, const ipc::ReplicateAgain& again) {
  if (context.options.group == nullptr) return base::fail(no_network(again.id.text()));
  return context.options.group->replicate_again(again.id);
}

base::Result<ipc::Names> kept_names(ServeContext& context, ClientId, const ipc::KeptNames& kept) {
  const auto ledger = context.ledger.lock();
  return ipc::Names{checkpoint_names(ledger->redundancy.all(), kept.ranks)};
}

base::Result<ipc::KeptVersions> all_stored(ServeContext& context, ClientId, const ipc::AllStored& all) {
  if (context.options.group == nullptr) return base::fail(no_network("group"));
  context.options.group->drop_stored(all.stored);
  const auto ledger = context.ledger.lock();
  PERDURE_TRY(auto kept, ledger->redundancy.drop_stored(all.ranks, all.stored));
  return ipc::KeptVersions{std::move(kept)};
}

}  // namespace

void enrol_group_handlers(Handlers& handlers) {
  handlers.on<ipc::OpenNetwork>(open_network);
  handlers.on<ipc::Join>(join);
  handlers.on(Waiter<ipc::Recover>{answer_recover, why_recover});
  handlers.on<ipc::ReplicateAgain>(replicate_again);
  handlers.on<ipc::KeptNames>(kept_names);
  handlers.on<ipc::AllStored>(all_stored);
}

}  // namespace perdure::engine
