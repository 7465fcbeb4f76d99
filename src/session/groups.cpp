// The nodes of the job as groups that keep something for each other: the network between the engines, who is with whom,
// and what all of them have reached. (docs/adr/0014)
#include <algorithm>
#include <cstring>

#include "base/json.hpp"
#include "engine/parity_servers.hpp"
#include "os/system.hpp"
#include "redundancy/registry.hpp"
#include "session/session.hpp"

namespace perdure::session {
namespace {

constexpr std::size_t kKeyBytes = 32;

std::vector<std::byte> random_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; i += 8) {
    const std::uint64_t word = os::random_u64();
    std::memcpy(bytes.data() + i, &word, std::min<std::size_t>(8, count - i));
  }
  return bytes;
}

std::size_t node_count(const Nodes& nodes) {
  return 1 + *std::max_element(nodes.node_of_rank.begin(), nodes.node_of_rank.end());
}

struct Place {
  std::uint32_t group = 0, position = 0;
};

Place place_of(const redundancy::GroupPlan& plan, std::uint32_t node) {
  for (std::uint32_t group = 0; group < plan.groups.size(); ++group)
    for (std::uint32_t position = 0; position < plan.groups[group].size(); ++position)
      if (plan.groups[group][position] == node) return {group, position};
  return {};
}

}  // namespace

bool Session::redundant() const { return config_.text("redundancy.scheme") != "single"; }

// Once for each time that engines are attached. Without a group everything works, but levels end at the node's own.
base::Status Session::join_group() {
  in_group_ = network_open_ = false;
  if (!redundant()) return {};
  std::vector<std::byte> words;
  PERDURE_CHECK(choose_job_key());
  if (comm_->rank() == 0) {
    words = job_key_;
    const auto epoch = random_bytes(8);
    words.insert(words.end(), epoch.begin(), epoch.end());
  }
  PERDURE_TRY(words, comm::broadcast_bytes(*comm_, words, 0));
  if (words.size() != kKeyBytes + 8) return base::fail(PERDURE_CORRUPT, "job key", "rank 0 sent something else");
  job_key_.assign(words.begin(), words.begin() + kKeyBytes);
  std::uint64_t epoch = 0;
  std::memcpy(&epoch, words.data() + kKeyBytes, sizeof epoch);
  PERDURE_TRY(const auto addresses, open_network());
  if (addresses.empty()) return {};
  network_open_ = true;
  const auto topology = read_topology(config_.text("node.topology"));
  PERDURE_CHECK(agree(*comm_, topology ? base::Status() : base::Status(base::fail(topology.error()))));
  auto plan = plan_group(*topology);
  // Too few nodes is no error: what there is of levels below works.
  if (!plan && plan.error().code == PERDURE_UNSUPPORTED) {
    if (leads()) (void)channel_.call(ipc::Note{"redundancy: " + plan.error().text() + "; level node is not reached"});
    return {};
  }
  base::Status outcome;
  if (!plan) outcome = base::fail(plan.error());
  if (plan && leads()) outcome = tell_join(*plan, addresses, epoch);
  PERDURE_CHECK(agree(*comm_, outcome));
  in_group_ = true;
  return {};
}

// Parity servers have a key of their own, which the job then takes over: they read from its engines.
base::Status Session::choose_job_key() {
  base::Status chosen;
  if (comm_->rank() == 0 && job_key_.empty()) {
    job_key_ = random_bytes(kKeyBytes);
    if (config_.text("redundancy.scheme") == "parity-server") {
      auto key = engine::parity_server_key(config_.text("redundancy.parity_servers"));
      if (key) job_key_ = std::move(*key);
      if (!key) chosen = base::fail(key.error());
    }
  }
  return agree(*comm_, chosen);
}

base::Status Session::tell_join(const redundancy::GroupPlan& plan, const std::vector<std::vector<std::byte>>& addresses,
                                std::uint64_t epoch) {
  const Place place = place_of(plan, nodes_.mine);
  ipc::Join join{epoch, place.group, place.position, {}, {}};
  for (const std::uint32_t node : plan.groups[place.group]) {
    join.addresses.push_back(addresses[node]);
    join.nodes.push_back(nodes_.labels[node]);
  }
  for (std::uint32_t rank = 0; rank < nodes_.node_of_rank.size(); ++rank)
    if (nodes_.node_of_rank[rank] == nodes_.mine) join.ranks.push_back(rank);
  auto joined = channel_.call(join);
  if (!joined) return base::fail(joined.error());
  return {};
}

// By node. Nothing when the engines belong to the network of another handle.
base::Result<std::vector<std::vector<std::byte>>> Session::open_network() {
  base::Json mine = base::Json::object();
  if (leads()) {
    auto reply = channel_.call(ipc::OpenNetwork{job_key_});
    mine = reply ? std::move(*reply) : ipc::error_reply(reply.error());
  }
  PERDURE_TRY(const auto all, comm::allgather_bytes(*comm_, base::encode_cbor(mine)));
  std::vector<std::vector<std::byte>> addresses(node_count(nodes_));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    PERDURE_TRY(auto json, base::decode_cbor(all[rank], "network"));
    auto checked = ipc::check_reply(std::move(json));
    if (!checked && checked.error().code == PERDURE_BUSY) return std::vector<std::vector<std::byte>>();
    if (!checked) return base::fail(checked.error());
    if (!checked->contains("address")) continue;
    PERDURE_TRY(addresses[nodes_.node_of_rank[rank]],
                base::binary_of((*checked)["address"], 4096, "field 'address'", "network"));
  }
  return addresses;
}

base::Result<redundancy::GroupPlan> Session::plan_group(const Topology& topology) const {
  PERDURE_TRY(const auto* scheme, redundancy::find_scheme(config_.text("redundancy.scheme")));
  const unsigned m = redundancy::parities(*scheme, static_cast<unsigned>(config_.integer("redundancy.parities")));
  PERDURE_TRY(const auto limits, redundancy::group_limits(*scheme, m));
  PERDURE_TRY(const auto domains, domains_of(topology, nodes_.labels));
  return redundancy::plan_groups(domains, static_cast<unsigned>(config_.integer("redundancy.group_size")), limits);
}

// What this node's group has reached goes with the next agreement.
void Session::add_protected(Opening& opening) {
  if (!in_group_ || !leads() || !channel_.connected()) return;
  const auto reply = channel_.call(ipc::NewestProtected{opening.name});
  opening.protected_ns = reply ? base::get_u64(*reply, "attempt_ns", "newest protected").value_or(0) : 0;
}

void Session::note_protected(const std::string& name, std::uint64_t attempt_ns) {
  if (!in_group_ || attempt_ns == 0 || attempt_ns == kEverything) return;
  std::uint64_t& known = protected_ns_[name];
  if (attempt_ns <= known) return;
  known = attempt_ns;
  if (leads() && channel_.connected()) (void)channel_.tell(ipc::Superseded{name, attempt_ns});
}

// With other engines the groups are new, and what was under way in the old ones was given up. Of each name the newest
// version that all nodes hold; all leaders take the same.
void Session::protect_unfinished() {
  if (!in_group_ || !leads()) return;
  const auto held = inventory("");
  if (!held) return;
  std::map<std::string, segment::VersionId> newest;
  for (const auto& summary : *held) {
    if (!summary.committed || !whole_in_tiers_[summary.id.name].contains(summary.id.version)) continue;
    auto& id = newest.try_emplace(summary.id.name, summary.id).first->second;
    if (id.attempt < summary.id.attempt) id = summary.id;
  }
  for (const auto& [name, id] : newest)
    if (id.attempt.created_ns > protected_ns_[name]) (void)channel_.call(ipc::Protect{id});
}

// True when it is protected on all nodes. Ranks of one node all ask: each may be the one that finds out that the engine
// died.
base::Result<bool> Session::wait_protected(const std::optional<segment::VersionId>& held, std::uint64_t timeout_ns) {
  bool here = false;
  base::Status outcome;
  if (held) {
    auto reply = channel_.call(ipc::WaitProtected{*held, timeout_ns});
    if (reply)
      here = base::get_bool(*reply, "protected", "wait").value_or(false);
    else
      outcome = base::fail(reply.error());
  }
  PERDURE_TRY(const bool everywhere, agree_on(*comm_, outcome, here));
  if (everywhere && held) note_protected(held->name, held->attempt.created_ns);
  return everywhere;
}

}  // namespace perdure::session
