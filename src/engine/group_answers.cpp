// What the server answers to requests that have to do with the other nodes of the job.
#include "base/json.hpp"
#include "engine/node_group.hpp"
#include "engine/server.hpp"

namespace perdure::engine {
namespace {

using base::Json;

Json done(const base::Status& status) { return status ? Json{{"ok", true}} : ipc::error_reply(status.error()); }

Json bytes_reply(const char* key, const base::Result<std::vector<std::byte>>& bytes) {
  if (!bytes) return ipc::error_reply(bytes.error());
  Json reply = {{"ok", true}};
  reply[key] = base::binary(*bytes);
  return reply;
}

}  // namespace

std::optional<Json> Server::answer_for_group(ClientId id, const ipc::Request& request) {
  if (const auto* note = std::get_if<ipc::Note>(&request)) {
    reports_.add(note->text);
    return done({});
  }
  NodeGroup& group = *options_.group;
  if (const auto* open = std::get_if<ipc::OpenNetwork>(&request)) return answer_open_network(id, *open);
  if (const auto* join = std::get_if<ipc::Join>(&request)) return done(group.join(*join));
  if (const auto* lend = std::get_if<ipc::Lend>(&request)) {
    Json reply = bytes_reply("loan", group.lend(id, lend->id));
    Json& servers = reply["server_loans"] = Json::array();
    for (const auto& loan : group.lend_of_servers(lend->id)) servers.push_back(base::binary(loan));
    return reply;
  }
  if (const auto* protect = std::get_if<ipc::Protect>(&request)) {
    group.committed(protect->id);
    return done({});
  }
  if (const auto* superseded = std::get_if<ipc::Superseded>(&request)) {
    group.superseded(superseded->name, superseded->attempt_ns);
    return done({});
  }
  if (const auto* newest = std::get_if<ipc::NewestProtected>(&request)) {
    std::lock_guard guard(lock_);
    return Json{{"ok", true}, {"attempt_ns", core_.newest_protected_ns(newest->name)}};
  }
  if (const auto* all = std::get_if<ipc::AllStored>(&request)) {
    group.drop_all();
    std::lock_guard guard(lock_);
    return done(core_.unprotect_all(all->ranks));
  }
  return std::nullopt;
}

// Handles that share an engine have one network, of the first of them: the key of another launch of the job counts only
// when nobody of the earlier one is here any more.
Json Server::answer_open_network(ClientId id, const ipc::OpenNetwork& open) {
  if (network_client_ != id && clients_.contains(network_client_) && !clients_[network_client_].dead)
    return ipc::error_reply({PERDURE_BUSY, "network", "another handle of this node uses it", "", false});
  network_client_ = id;
  return bytes_reply("address", options_.group->open_network(open.job_key));
}

// What the store has is safe from the loss of this node, too.
std::optional<Json> Server::answer_wait_protected(const ipc::WaitProtected& wait, bool timed_out) {
  Json reply = {{"ok", true}, {"protected", false}};
  if (options_.group == nullptr || !options_.group->joined()) return reply;
  const Protector::State state = options_.group->state(wait.id);
  reply["protected"] = state.reached;
  if (state.reached || state.failed) return reply;
  std::lock_guard guard(lock_);
  const catalog::HeldVersion* held = core_.find(wait.id);
  const Runtime* run = core_.runtime(wait.id);
  const bool hopeless = run != nullptr && run->flush == FlushState::given_up;
  if (held == nullptr || hopeless) return reply;
  // Of pieces that came from other nodes, which bring them to the store, nothing may be there yet.
  if (state.stored || (held->all_stored() && !state.under_way)) return reply;
  if (timed_out)
    return ipc::error_reply({PERDURE_TIMEOUT, wait.id.text(), "it did not reach level node in time",
                             "give it more time, or see the reports of the engine", true});
  return std::nullopt;
}

std::optional<Json> Server::answer_recover(ClientId id, const ipc::Recover& recover) {
  if (options_.group == nullptr)
    return ipc::error_reply(
        {PERDURE_UNSUPPORTED, recover.id.text(), "this engine has no network", "set redundancy.scheme", false});
  const auto result = options_.group->recover(id, recover);
  if (!result) return std::nullopt;
  count_recovery(*result);
  if (!*result) return ipc::error_reply(result->error());
  Json list = Json::array();
  for (const auto& rank : **result)
    list.push_back({{"rank", rank.rank}, {"moved", rank.bytes_moved}, {"rebuilt", rank.bytes_rebuilt}});
  return Json{{"ok", true}, {"recovered", std::move(list)}};
}

void Server::count_recovery(const base::Result<std::vector<RecoveredRank>>& result) {
  std::lock_guard guard(lock_);
  Counters& counters = core_.counters();
  ++(result ? counters.recoveries : counters.recoveries_failed);
  if (!result) return;
  for (const auto& rank : *result) {
    counters.fetched_bytes += rank.bytes_moved;
    counters.rebuilt_bytes += rank.bytes_rebuilt;
  }
}

void Server::add_kept_at_servers(const std::string& name, Json& kept) {
  if (options_.group == nullptr) return;
  for (const auto& summary : options_.group->kept_at_servers(name)) kept.push_back(ipc::to_json(summary));
}

void Server::tell_group_room_is_wanted() { options_.group->give_way(); }

void Server::tell_group_capturing(const segment::VersionId& id) {
  if (options_.group != nullptr) options_.group->capturing(id);
}

void Server::tell_group_client_gone() {
  if (options_.group != nullptr) options_.group->look_at_captures();
}

void Server::tell_group_committed(const segment::VersionId& id) {
  if (options_.group != nullptr) options_.group->committed(id);
}

void Server::tell_group_gone(const std::string& name, std::uint64_t version) {
  if (options_.group == nullptr) return;
  std::vector<segment::VersionId> ids;
  {
    std::lock_guard guard(lock_);
    for (const auto& summary : core_.inventory(name))
      if (summary.id.version == version) ids.push_back(summary.id);
  }
  for (const auto& id : ids) options_.group->gone(id);
}

}  // namespace perdure::engine
