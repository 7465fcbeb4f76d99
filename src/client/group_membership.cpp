#include "client/group_membership.hpp"

#include <algorithm>
#include <cstring>

#include "base/field_codec.hpp"
#include "client/job.hpp"
#include "engine/peers/parity_servers.hpp"
#include "os/system.hpp"
#include "redundancy/registry.hpp"

namespace perdure::client {
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

bool GroupMembership::redundant() const {
  return redundancy::keeps_redundancy(job_.config().text("redundancy.scheme"));
}

base::Status GroupMembership::join() {
  joined_ = network_open_ = false;
  addresses_.clear();
  levels_.clear();
  const bool protects = redundant();
  if (!protects) {
    PERDURE_TRY(const bool anything, keep_anything());
    if (!anything) return {};
  }
  std::vector<std::byte> words;
  PERDURE_CHECK(choose_job_key());
  if (job_.comm().rank() == 0) {
    words = job_key_;
    const auto epoch = random_bytes(8);
    words.insert(words.end(), epoch.begin(), epoch.end());
  }
  PERDURE_TRY(words, comm::broadcast_bytes(job_.comm(), words, 0));
  if (words.size() != kKeyBytes + 8) return base::fail(PERDURE_CORRUPT, "job key", "rank 0 sent something else");
  job_key_.assign(words.begin(), words.begin() + kKeyBytes);
  std::uint64_t epoch = 0;
  std::memcpy(&epoch, words.data() + kKeyBytes, sizeof epoch);
  auto addresses = open_network();
  if (!addresses && protects) return base::fail(addresses.error());
  if (!addresses) return unused("what an earlier launch keeps on the nodes is not used: " + addresses.error().text());
  if (!*addresses) return {};
  addresses_ = std::move(**addresses);
  network_open_ = true;
  if (!protects) return {};
  PERDURE_TRY(const Topology topology, share_topology(job_.comm(), job_.config().text("node.topology")));
  auto plan = base::caught("group", [&] { return plan_group(topology); });
  // Too few nodes are no error: the levels below work.
  if (!plan && plan.error().code == PERDURE_UNSUPPORTED)
    return unused(plan.error().text() + "; level node is not reached");
  PERDURE_CHECK(agree_after(job_.comm(), "group", [&]() -> base::Status {
    if (!plan) return base::fail(plan.error());
    return job_.leads() ? tell_join(*plan, epoch) : base::Status();
  }));
  joined_ = true;
  return {};
}

// A launch without redundancy may restore data that an earlier one with it protected. Then the engines have to reach
// each other. The earlier one may have had another number of ranks; whether all of it is arrays is not known yet.
base::Result<bool> GroupMembership::keep_anything() {
  bool nothing = true;
  const base::Status asked = base::caught("redundancy", [&]() -> base::Status {
    if (!job_.leads()) return {};
    PERDURE_TRY(const auto kept, job_.engine().channel().call(ipc::KeptNames{0}));
    nothing = kept.names.empty();
    return {};
  });
  PERDURE_TRY(const bool nowhere, agree_on(job_.comm(), asked, nothing));
  return !nowhere;
}

base::Status GroupMembership::unused(const std::string& why) {
  if (job_.leads())
    (void)base::caught("group", [&] { return job_.engine().channel().call(ipc::Note{"redundancy: " + why}); });
  return {};
}

// Parity servers have a key of their own, which the job then takes over: they read from its engines.
base::Status GroupMembership::choose_job_key() {
  return agree_after(job_.comm(), "job key", [&]() -> base::Status {
    if (job_.comm().rank() != 0 || !job_key_.empty()) return {};
    auto key = random_bytes(kKeyBytes);
    if (redundancy::keeps_at_server(job_.config().text("redundancy.scheme"))) {
      PERDURE_TRY(key, engine::parity_server_key(job_.config().list("redundancy.parity_servers")));
    }
    job_key_ = std::move(key);
    return {};
  });
}

base::Status GroupMembership::tell_join(const redundancy::GroupPlan& plan, std::uint64_t epoch) {
  const Place place = place_of(plan, job_.nodes().mine);
  ipc::Join join{epoch, place.group, place.position, {}, {}};
  for (const std::uint32_t node : plan.groups[place.group]) {
    join.addresses.push_back(addresses_[node]);
    join.nodes.push_back(job_.nodes().labels[node]);
  }
  for (std::uint32_t rank = 0; rank < job_.nodes().node_of_rank.size(); ++rank)
    if (job_.nodes().node_of_rank[rank] == job_.nodes().mine) join.ranks.push_back(rank);
  auto joined = job_.engine().channel().call(join);
  if (!joined) return base::fail(joined.error());
  return {};
}

// Gives the addresses by node; leaders keep all, others none. Empty when the engines belong to the network of another
// handle.
base::Result<std::optional<GroupMembership::Addresses>> GroupMembership::open_network() {
  using Answer = base::Result<ipc::NetworkAddress>;
  std::vector<std::byte> mine;
  if (job_.leads())
    mine = base::encode_fields(
        base::caught("engine", [&] { return job_.engine().channel().call(ipc::OpenNetwork{job_key_}); }));
  Addresses addresses(job_.nodes().labels.size());
  std::optional<base::Error> failure;  // the first one
  PERDURE_CHECK(
      comm::tell_all(job_.comm(), job_.leader(), mine, [&](std::size_t node, base::ConstByteSpan told) -> base::Status {
        PERDURE_TRY(auto opened, base::decode_fields<Answer>(told, "network"));
        if (!opened && !failure) failure = opened.error();
        if (opened) addresses[node] = std::move(opened->address);
        return {};
      }));
  if (failure && failure->code == PERDURE_BUSY) return std::optional<Addresses>();
  if (failure) return base::fail(std::move(*failure));
  return std::optional(std::move(addresses));
}

base::Result<redundancy::GroupPlan> GroupMembership::plan_group(const Topology& topology) const {
  PERDURE_TRY(const auto* scheme, redundancy::find_scheme(job_.config().text("redundancy.scheme")));
  const unsigned m = redundancy::parities(*scheme, static_cast<unsigned>(job_.config().integer("redundancy.parities")));
  PERDURE_TRY(const auto limits, redundancy::group_limits(*scheme, m));
  PERDURE_TRY(const auto domains, domains_of(topology, job_.nodes().labels));
  return redundancy::plan_groups(domains, static_cast<unsigned>(job_.config().integer("redundancy.group_size")),
                                 limits);
}

void GroupMembership::add_node_levels(Opening& opening) {
  if (!joined_) return;
  opening.node_level_list = levels_.list_hash(opening.name);
  opening.node_level_bits = kEverything;
  if (!job_.leads()) return;
  opening.node_level_bits = 0;
  const auto reply = job_.engine().channel().call(ipc::AtNodeLevel{opening.name});
  opening.node_level_bits = reply ? levels_.bits(opening.name, reply->attempts_ns) : 0;
}

void GroupMembership::note_node_levels(const segment::VersionId& id, std::uint64_t bits) {
  if (!joined_) return;
  tell(id.name, levels_.promised(id.name, bits));
  levels_.current(id.name, id.attempt.created_ns);
}

void GroupMembership::tell(const std::string& name, const std::optional<NodeLevelNews>& news) {
  if (!news || !job_.leads() || !job_.engine().channel().connected()) return;
  // An engine that is not told keeps more than needed, and hears of it with the next news.
  (void)base::caught("level node", [&] {
    return job_.engine().channel().tell(ipc::Superseded{name, news->attempt_ns, news->keep});
  });
}

// Other nodes keep the versions that they promised until a later agreement. Only this node knows its own losses since,
// such as a block that turned out to be damaged.
bool GroupMembership::at_node_level(const segment::VersionId& id) {
  if (!joined_ || !levels_.everywhere(id.name, id.attempt.created_ns)) return false;
  const auto here = job_.engine().channel().call(ipc::AtNodeLevel{id.name});
  return here && std::binary_search(here->attempts_ns.begin(), here->attempts_ns.end(), id.attempt.created_ns);
}

// Replicates, for each name, the newest version that all nodes hold; all leaders take the same.
void GroupMembership::replicate_unfinished() {
  if (!joined_) return;
  for (const auto& [name, attempts] : job_.known().whole_in_tiers())
    for (const std::uint64_t attempt_ns : attempts) levels_.current(name, attempt_ns);
  if (!job_.leads()) return;
  const auto held = base::caught("engine", [&] { return job_.engine().inventory(""); });
  if (!held) return;
  std::map<std::string, segment::VersionId> newest;
  for (const auto& summary : *held) {
    if (!summary.committed || !job_.known().was_whole_in_tiers(summary.id)) continue;
    auto& id = newest.try_emplace(summary.id.name, summary.id).first->second;
    if (id.attempt < summary.id.attempt) id = summary.id;
  }
  for (const auto& entry : newest)
    (void)base::caught("engine", [&] { return job_.engine().channel().call(ipc::ReplicateAgain{entry.second}); });
}

// True when all nodes say the same: it is under way, or at level `node`.
base::Result<bool> GroupMembership::ask_again(const segment::VersionId& id) {
  ipc::ReplicatingAgain here{true, true};
  base::Status outcome;
  if (job_.leads() && job_.engine().connected()) {
    const auto reply =
        base::caught("level node", [&] { return job_.engine().channel().call(ipc::ReplicateAgain{id}); });
    if (reply) here = *reply;
    if (!reply && reply.error().code != PERDURE_UNAVAILABLE) outcome = base::fail(reply.error());
  }
  PERDURE_TRY(const auto all, agree_on_both(job_.comm(), outcome, {here.kept, here.begun}));
  return all.first || all.second;
}

// Some node may have lost or given up a version that the group has completed in this launch. Others of the group still
// count on it: new groups build it again.
base::Status GroupMembership::replicate_again(const segment::VersionId& id) {
  if (!joined_) return {};
  PERDURE_TRY(const bool alike, ask_again(id));
  if (!alike) {
    PERDURE_CHECK(join());
    if (!joined_) return {};
    PERDURE_TRY([[maybe_unused]] const bool begun, ask_again(id));
  }
  levels_.current(id.name, id.attempt.created_ns);
  return {};
}

// True when the version is at level `node` on all nodes. All ranks of a node ask: each may be the one that finds out
// that the engine died.
base::Result<bool> GroupMembership::wait_node_level(const std::optional<segment::VersionId>& held,
                                                    std::uint64_t timeout_ns, base::Status found) {
  bool here = false;
  base::Status outcome = std::move(found);
  if (outcome && held) {
    const auto reply = base::caught("level node", [&] {
      return job_.engine().channel().call(ipc::WaitNodeLevel{*held, timeout_ns});
    });
    if (reply)
      here = reply->reached;
    else
      outcome = base::fail(reply.error());
  }
  const std::uint64_t attempt_ns = held ? held->attempt.created_ns : 0;
  PERDURE_TRY(const bool everywhere, agree_on(job_.comm(), outcome, here, attempt_ns));
  if (everywhere && held) tell(held->name, levels_.promised_one(held->name, attempt_ns));
  return everywhere;
}

}  // namespace perdure::client
