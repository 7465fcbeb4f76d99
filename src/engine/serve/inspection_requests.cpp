// Handles a client's Hello, and requests of people and monitoring about an engine.
#include <algorithm>

#include "base/json.hpp"
#include "engine/flush/flusher.hpp"
#include "engine/pipeline/pipeline.hpp"
#include "engine/serve/handlers.hpp"
#include "engine/serve/overview.hpp"
#include "engine/serve/reply_parts.hpp"
#include "engine/upkeep/janitor.hpp"
#include "metrics/family_codec.hpp"
#include "os/system.hpp"

namespace perdure::engine {
namespace {

using base::Json;
using ipc::Done;

constexpr std::size_t kMostShown = 256;

base::Result<ipc::Greeted> greet(ServeContext& context, ClientId id, const ipc::Hello& hello) {
  if (hello.protocol != ipc::kProtocol)
    return base::fail(
        PERDURE_UNSUPPORTED, "engine",
        "it speaks protocol " + std::to_string(ipc::kProtocol) + ", the client " + std::to_string(hello.protocol),
        "use the same release of Perdure for library and perdured");
  if (hello.client && hello.fingerprint != context.options.fingerprint)
    // The client took this engine for its own because it read an old fingerprint. Its next look finds the right engine.
    return base::fail(PERDURE_BUSY, "engine", "it serves a job with another configuration", "", true);
  context.clients[id] = {hello.rank, !hello.client};
  if (hello.first_node) context.janitor.activate();
  const auto ledger = context.ledger.lock();
  return ipc::Greeted{context.options.chunk_bytes, ledger->writes.emulated()};
}

base::Result<Done> note(ServeContext& context, ClientId, const ipc::Note& note) {
  context.reports.add(note.text);
  return Done{};
}

base::Result<ipc::Report> next_report(ServeContext& context, ClientId, const ipc::NextReport&) {
  return ipc::Report{context.reports.take()};
}

std::size_t count_ranks(const ServeContext& context) {
  return static_cast<std::size_t>(std::count_if(context.clients.begin(), context.clients.end(),
                                                [](const auto& client) { return client.second.is_rank(); }));
}

// Returns the requests that wait, since when, and why; the first ones if there are many.
Json queue(const ServeContext& context, NodeState& ledger) {
  Json list = Json::array();
  Queued who;
  const std::uint64_t now = os::monotonic_ns();
  for (const auto& waiting : context.waiting.entries()) {
    if (list.size() == kMostShown) break;
    who.client = waiting.client;
    const std::uint32_t rank = context.rank_of(waiting.client);
    const WaitReason why = waiting.request->why(ledger, who);
    list.push_back({{"rank", rank},
                    {"for", waiting.request->name()},
                    {"seconds", static_cast<double>(now - waiting.since_ns) * 1e-9},
                    {"reason", why.name},
                    {"text", why.text}});
    if (!who.head && waiting.request->traits().in_turn) who.head = rank;
  }
  return list;
}

Json pipeline_of(const ServeContext& context) {
  Json list = Json::array();
  for (const auto& [row, status] : context.pipeline.show()) {
    Json step = {{"name", row.name},    {"description", row.description},    {"needs", plan::level_name(row.needs)},
                 {"gives", nullptr},    {"state", state_name(status.state)}, {"waiting", status.waiting},
                 {"done", status.done}, {"left_out", status.left_out}};
    if (row.gives) step["gives"] = plan::level_name(*row.gives);
    if (!status.reason.empty()) step["reason"] = status.reason;
    list.push_back(std::move(step));
  }
  return list;
}

base::Result<ipc::View> top(ServeContext& context, ClientId, const ipc::Top&) {
  Json pipeline = pipeline_of(context);
  const auto ledger = context.ledger.lock();
  Json engine = overview(*ledger);
  engine["flush"]["threads_held_back"] = context.flusher.gate_status().held_back;
  engine["pipeline"] = std::move(pipeline);
  engine["process"] = os::process_id();
  engine["clients"] = count_ranks(context);
  engine["waiting"] = context.waiting.entries().size();
  engine["queue"] = queue(context, *ledger);
  return ipc::View{base::encode_cbor(engine)};
}

base::Result<ipc::View> metrics_page(ServeContext& context, ClientId, const ipc::Metrics&) {
  metrics::Collection out;
  out.add("perdure_clients", static_cast<double>(count_ranks(context)));
  out.add("perdure_slot_requests_waiting", static_cast<double>(context.waiting.in_turn()));
  out.add("perdure_reports_total", context.reports.added());
  out.add("perdure_versions_retired_total", context.janitor.retired());
  const Identity& identity = context.options.identity;
  {
    const auto ledger = context.ledger.lock();
    export_identity(*ledger, identity, out);
    export_core(*ledger, out);
  }
  const metrics::Labels labels = {{"node", identity.node}, {"perdure_job", identity.job}};
  return ipc::View{
      base::encode_cbor({{"labels", metrics::to_json(labels)}, {"families", metrics::to_json(out.take())}})};
}

base::Result<Done> shut_down(ServeContext& context, ClientId, const ipc::Shutdown& shutdown) {
  if (!shutdown.hand_over) {
    context.lifetime.shut_down();
    return Done{};
  }
  if (context.options.identity.mode != "daemon")
    return base::fail(PERDURE_UNSUPPORTED, "engine", "it lives in an application");
  if (count_ranks(context) > 0) return base::fail(PERDURE_BUSY, "engine", "a job is connected to it");
  // An engine that would end when idle ends now. Otherwise a later launch with its settings would find it, and continue
  // from it instead of from what the asking launch will leave. An engine that somebody started to stay does stay.
  if (context.options.idle_exit_ns == 0) {
    const auto ledger = context.ledger.lock();
    if (!ledger->holds_unstored() && !ledger->redundancy.needed_by_others())
      return base::fail(PERDURE_EXISTS, "engine", "the store has all that it holds");
  }
  context.reports.add("ended for the engine of a new launch, which has another configuration");
  context.lifetime.end();
  return Done{};
}

}  // namespace

void enrol_inspection_handlers(Handlers& handlers) {
  handlers.on<ipc::Hello>(greet);
  handlers.on<ipc::Note>(note);
  handlers.on<ipc::NextReport>(next_report);
  handlers.on<ipc::Top>(top);
  handlers.on<ipc::Metrics>(metrics_page);
  handlers.on<ipc::Shutdown>(shut_down);
}

}  // namespace perdure::engine
