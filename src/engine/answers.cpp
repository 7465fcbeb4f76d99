// What the server answers to each request.
#include <algorithm>

#include "base/json.hpp"
#include "engine/flusher.hpp"
#include "engine/janitor.hpp"
#include "engine/overview.hpp"
#include "engine/server.hpp"
#include "ipc/address_codec.hpp"
#include "os/crash_point.hpp"
#include "os/system.hpp"
#include "segment/manifest_codec.hpp"

namespace perdure::engine {
namespace {

using base::Json;

constexpr std::size_t kMostShown = 256;

Json ok() { return {{"ok", true}}; }
Json reply_of(const base::Status& status) { return status ? ok() : ipc::error_reply(status.error()); }

Json wire(const tier::SlotAddress& a) {
  return ipc::to_json(ipc::WireAddress{a.tier, a.slot, a.path, a.offset, a.capacity, a.mapped});
}

Json timed_out_reply(const std::string& object, const std::string& what) {
  return ipc::error_reply({PERDURE_TIMEOUT, object, what, "give it more time, or see the reports of the engine", true});
}

}  // namespace

std::optional<Json> Server::answer(ClientId id, const ipc::Request& request, bool timed_out) {
  if (const auto* hello = std::get_if<ipc::Hello>(&request)) return answer_hello(id, *hello);
  if (const auto* locate = std::get_if<ipc::Locate>(&request)) return answer_locate(id, *locate);
  if (std::holds_alternative<ipc::Progress>(request)) return answer_progress();
  if (std::holds_alternative<ipc::Top>(request)) return answer_top();
  if (std::holds_alternative<ipc::Metrics>(request)) return answer_metrics();
  if (const auto* reserve = std::get_if<ipc::Reserve>(&request)) {
    std::lock_guard guard(lock_);
    Json reply = ok(), slots = Json::array(), bytes = Json::array();
    for (const auto& [address, wanted] : core_.reserve(id, reserve->chunk_bytes)) {
      slots.push_back(wire(address));
      bytes.push_back(wanted);
    }
    reply["slots"] = std::move(slots);
    reply["bytes"] = std::move(bytes);
    return reply;
  }
  if (const auto* begin = std::get_if<ipc::Begin>(&request)) {
    {
      std::lock_guard guard(lock_);
      core_.begin_capture(id, *begin);
    }
    tell_group_capturing(begin->id);
    return std::nullopt;
  }
  if (const auto* back = std::get_if<ipc::GiveBack>(&request)) {
    std::lock_guard guard(lock_);
    core_.give_back(id, *back);
    return std::nullopt;
  }
  if (const auto* written = std::get_if<ipc::Written>(&request)) {
    os::crash_point(os::CrashPoint::engine_written);
    return answer_written(id, *written);
  }
  if (const auto* step = std::get_if<ipc::Step>(&request)) {
    {
      std::lock_guard guard(lock_);
      core_.step(id, static_cast<double>(step->ns) * 1e-9);
    }
    flusher_.look_at_application();
    return std::nullopt;
  }
  if (const auto* restored = std::get_if<ipc::Restored>(&request)) {
    std::lock_guard guard(lock_);
    core_.counters().restored_from_slots_bytes += restored->slot_bytes;
    core_.counters().restored_from_store_bytes += restored->store_bytes;
    return std::nullopt;
  }
  if (const auto* stage = std::get_if<ipc::Stage>(&request)) {
    std::lock_guard guard(lock_);
    return reply_of(core_.stage(id, *stage));
  }
  if (const auto* commit = std::get_if<ipc::Commit>(&request)) {
    base::Status status;
    {
      std::lock_guard guard(lock_);
      status = core_.commit(*commit);
    }
    if (status && !commit->recovered) tell_group_committed(commit->id);
    if (status) flusher_.notify();
    return reply_of(status);
  }
  if (const auto* abort = std::get_if<ipc::Abort>(&request)) {
    refuse_waiting_grants(id, abort->id);
    base::Status status;
    {
      std::lock_guard guard(lock_);
      status = core_.abort(id, abort->id);
    }
    tell_group_capturing(abort->id);
    return reply_of(status);
  }
  if (const auto* inventory = std::get_if<ipc::Inventory>(&request)) {
    os::crash_point(os::CrashPoint::engine_inventory);
    return answer_inventory(*inventory);
  }
  if (const auto* quarantine = std::get_if<ipc::Quarantine>(&request)) {
    std::lock_guard guard(lock_);
    return reply_of(core_.quarantine(*quarantine));
  }
  if (std::holds_alternative<ipc::Unpin>(request)) {
    std::lock_guard guard(lock_);
    core_.unpin(id);
    return ok();
  }
  if (std::holds_alternative<ipc::NextReport>(request)) {
    Json reply = ok();
    if (auto text = reports_.take()) reply["report"] = *text;
    return reply;
  }
  if (std::holds_alternative<ipc::Shutdown>(request)) {
    if (draining_since_ns_ == 0) draining_since_ns_ = os::monotonic_ns();
    return ok();
  }
  if (options_.group != nullptr || std::holds_alternative<ipc::Note>(request))
    if (auto reply = answer_for_group(id, request)) return reply;
  // Nobody overtakes a rank that waits for a slot.
  if (std::holds_alternative<ipc::Grant>(request) && !timed_out)
    for (const auto& waiting : waiting_)
      if (std::holds_alternative<ipc::Grant>(waiting.request)) return std::nullopt;
  if (std::holds_alternative<ipc::Drain>(request)) janitor_.tend_all();
  if (std::holds_alternative<ipc::Drain>(request) || std::holds_alternative<ipc::WaitStored>(request))
    flusher_.notify();
  return answer_waiting(id, request, timed_out);
}

std::optional<Json> Server::answer_waiting(ClientId id, const ipc::Request& request, bool timed_out) {
  if (const auto* grant = std::get_if<ipc::Grant>(&request)) {
    auto reply = answer_grant(id, *grant, timed_out);
    if (!reply && options_.group != nullptr) {
      tell_group_room_is_wanted();
      flusher_.notify();  // what waits for its protection waits no longer
    }
    return reply;
  }
  if (const auto* written = std::get_if<ipc::Written>(&request)) return answer_written(id, *written);
  if (const auto* wait = std::get_if<ipc::WaitStored>(&request)) return answer_wait_stored(*wait, timed_out);
  if (const auto* wait = std::get_if<ipc::WaitProtected>(&request)) return answer_wait_protected(*wait, timed_out);
  if (const auto* recover = std::get_if<ipc::Recover>(&request)) return answer_recover(id, *recover);
  if (const auto* retire = std::get_if<ipc::Retire>(&request)) return answer_retire(*retire, timed_out);
  if (std::holds_alternative<ipc::Drain>(request)) return answer_drain(timed_out);
  return ipc::error_reply({PERDURE_INTERNAL, "message", "this request cannot wait", "", false});
}

// An abort also answers the client's requests for slots of that version that are still waiting.
void Server::refuse_waiting_grants(ClientId id, const segment::VersionId& version) {
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    const auto* grant = std::get_if<ipc::Grant>(&it->request);
    if (grant == nullptr || it->client != id || grant->id != version) {
      ++it;
      continue;
    }
    note_wait(*it);
    send(id, it->sequence,
         ipc::error_reply({PERDURE_PEER_FAILED, version.text(), "the checkpoint was aborted", "", true}));
    it = waiting_.erase(it);
  }
}

Json Server::answer_hello(ClientId id, const ipc::Hello& hello) {
  if (hello.protocol != ipc::kProtocol)
    return ipc::error_reply(
        {PERDURE_UNSUPPORTED, "engine",
         "it speaks protocol " + std::to_string(ipc::kProtocol) + ", the client " + std::to_string(hello.protocol),
         "use the same release of Perdure for library and perdured", false});
  if (hello.client && hello.fingerprint != options_.fingerprint)
    // Who took us for its own read an old fingerprint: the next look finds the right engine.
    return ipc::error_reply({PERDURE_BUSY, "engine", "it serves a job with another configuration", "", true});
  Client& client = clients_[id];
  client.greeted = true;
  client.looks_only = !hello.client;
  client.rank = hello.rank;
  if (hello.first_node) janitor_.activate();
  Json reply = ok();
  reply["chunk_bytes"] = options_.chunk_bytes;
  std::lock_guard guard(lock_);
  reply["paced"] = core_.emulated();
  return reply;
}

Json Server::answer_locate(ClientId id, const ipc::Locate& locate) {
  std::lock_guard guard(lock_);
  auto piece = core_.locate(id, locate.id, locate.rank);
  if (!piece) return ipc::error_reply(piece.error());
  Json reply = ok(), slots = Json::array(), bad = Json::array();
  for (const auto& chunk : (*piece)->chunks) slots.push_back(wire(core_.address(chunk)));
  const catalog::HeldVersion* held = core_.find(locate.id);
  for (const auto& [rank, chunk] : held->quarantined)
    if (rank == locate.rank) bad.push_back(chunk);
  reply["piece"] = segment::to_json(**piece);
  reply["slots"] = std::move(slots);
  reply["quarantined"] = std::move(bad);
  return reply;
}

Json Server::answer_inventory(const ipc::Inventory& inventory) {
  Json reply = ok(), held = Json::array(), kept = Json::array();
  if (inventory.kept) add_kept_at_servers(inventory.name, kept);
  std::lock_guard guard(lock_);
  for (const auto& summary : core_.inventory(inventory.name)) held.push_back(ipc::to_json(summary));
  reply["held"] = std::move(held);
  if (!inventory.kept) return reply;
  if (options_.group != nullptr)
    for (const auto& summary : core_.kept_inventory(inventory.name)) kept.push_back(ipc::to_json(summary));
  reply["kept"] = std::move(kept);
  return reply;
}

Json Server::answer_progress() {
  std::lock_guard guard(lock_);
  const Counters& s = core_.counters();
  Json reply = ok();
  reply["bytes_pending"] = core_.pending_bytes();
  reply["versions_pending"] = static_cast<std::uint64_t>(core_.pending_versions());
  reply["versions_failed"] = static_cast<std::uint64_t>(core_.given_up_versions());
  reply["bytes_flushed"] = s.stored_bytes;
  reply["flush_bytes_per_s"] = static_cast<std::uint64_t>(s.flush_bytes_per_s.mean());
  reply["last_flush_ns"] = static_cast<std::uint64_t>(s.last_flush_s * 1e9);
  return reply;
}

WaitReason Server::why_waits(const Waiting& waiting, std::optional<std::uint32_t> head) {
  if (const auto* wait = std::get_if<ipc::WaitProtected>(&waiting.request))
    return {"redundancy", wait->id.text() + " is being protected by other nodes"};
  if (const auto* recover = std::get_if<ipc::Recover>(&waiting.request))
    return {"recovery", recover->id.text() + " is being fetched or rebuilt"};
  if (const auto* wait = std::get_if<ipc::WaitStored>(&waiting.request)) return why_not_flushed(core_, wait->id);
  if (const auto* written = std::get_if<ipc::Written>(&waiting.request)) return why_not_written(core_, written->tier);
  if (const auto* retire = std::get_if<ipc::Retire>(&waiting.request))
    return {"flush", retire->name + " version " + std::to_string(retire->version) + " is being flushed"};
  if (std::holds_alternative<ipc::Drain>(waiting.request)) return why_not_drained(core_);
  return why_no_slot(core_, waiting.client, head);
}

// Everything that waits here, since when, and why; of many the first.
Json Server::queue() {
  Json list = Json::array();
  std::optional<std::uint32_t> head;  // of those that wait for a slot
  const std::uint64_t now = os::monotonic_ns();
  for (const Waiting& waiting : waiting_) {
    if (list.size() == kMostShown) break;
    const auto client = clients_.find(waiting.client);
    const std::uint32_t rank = client == clients_.end() ? 0 : client->second.rank;
    const WaitReason why = why_waits(waiting, head);
    list.push_back({{"rank", rank},
                    {"for", ipc::to_json(waiting.request)["op"]},
                    {"seconds", static_cast<double>(now - waiting.since_ns) * 1e-9},
                    {"reason", why.name},
                    {"text", why.text}});
    if (!head && std::holds_alternative<ipc::Grant>(waiting.request)) head = rank;
  }
  return list;
}

Json Server::answer_top() {
  Json reply = ok();
  std::lock_guard guard(lock_);
  reply["engine"] = overview(core_);
  reply["engine"]["flush"]["threads_held_back"] = flusher_.gate_status().held_back;
  reply["engine"]["process"] = os::process_id();
  reply["engine"]["clients"] = static_cast<std::uint64_t>(
      std::count_if(clients_.begin(), clients_.end(), [](const auto& entry) { return entry.second.is_rank(); }));
  reply["engine"]["waiting"] = static_cast<std::uint64_t>(waiting_.size());
  reply["engine"]["queue"] = queue();
  return reply;
}

std::optional<Json> Server::answer_grant(ClientId id, const ipc::Grant& grant, bool timed_out) {
  std::lock_guard guard(lock_);
  const auto waiting = static_cast<std::uint64_t>(std::count_if(
      waiting_.begin(), waiting_.end(), [](const auto& w) { return std::holds_alternative<ipc::Grant>(w.request); }));
  GrantOutcome outcome = core_.grant(id, grant, {std::max<std::uint64_t>(waiting, 1), clients_[id].rank, timed_out});
  if (outcome.kind == GrantOutcome::Kind::granted) {
    Json reply = ok();
    reply["slot"] = wire(outcome.address);
    reply["fresh"] = outcome.address.fresh;
    return reply;
  }
  if (outcome.kind == GrantOutcome::Kind::refused) return ipc::error_reply(outcome.error);
  if (timed_out)
    return timed_out_reply(grant.id.text(),
                           "no slot became free in time: the store takes data too slowly, or not at all");
  return std::nullopt;
}

std::optional<Json> Server::answer_written(ClientId id, const ipc::Written& written) {
  std::optional<base::Status> status;
  {
    std::lock_guard guard(lock_);
    status = core_.written(id, written);
  }
  if (status) tell_group_capturing(written.id);
  return status ? std::optional(reply_of(*status)) : std::nullopt;
}

std::optional<Json> Server::answer_wait_stored(const ipc::WaitStored& wait, bool timed_out) {
  std::lock_guard guard(lock_);
  const catalog::HeldVersion* held = core_.find(wait.id);
  Json reply = ok();
  reply["held"] = held != nullptr;
  if (core_.lost(wait.id))
    return ipc::error_reply({PERDURE_NO_SPACE, wait.id.text(),
                             "it was given up before it reached the store, to make room for newer ones",
                             "mend the store, or give the tiers more room", false});
  if (held == nullptr || held->all_stored()) return reply;
  const Runtime* run = core_.runtime(wait.id);
  if (run != nullptr && run->flush == FlushState::given_up && run->error) return ipc::error_reply(*run->error);
  if (timed_out && run != nullptr && run->error) {
    base::Error error = *run->error;
    error.cause += " (still being retried)";
    error.code = PERDURE_TIMEOUT;
    return ipc::error_reply(error);
  }
  if (timed_out) return timed_out_reply(wait.id.text(), "it did not reach the store in time");
  return std::nullopt;
}

std::optional<Json> Server::answer_drain(bool timed_out) {
  std::lock_guard guard(lock_);
  const bool done = flusher_.idle() && core_.pending_versions() == 0 && janitor_.idle();
  if (!done && !timed_out) return std::nullopt;
  Json reply = ok();
  reply["remaining"] = static_cast<std::uint64_t>(core_.pending_versions() + core_.given_up_versions());
  reply["bytes"] = core_.pending_bytes();
  const auto error = core_.last_flush_error();
  reply["why"] = error ? error->object + ": " + error->cause : "";
  return reply;
}

std::optional<Json> Server::answer_retire(const ipc::Retire& retire, bool timed_out) {
  tell_group_gone(retire.name, retire.version);
  std::lock_guard guard(lock_);
  for (const auto& summary : core_.inventory(retire.name)) {
    const Runtime* run = core_.runtime(summary.id);
    const bool busy = run != nullptr && run->flush == FlushState::running && !summary.stored;
    if (summary.id.version == retire.version && busy && !timed_out) return std::nullopt;
  }
  return reply_of(core_.retire(retire.name, retire.version));
}

}  // namespace perdure::engine
