#include "engine/host/engine.hpp"

#include <algorithm>

#include "engine/flush/flusher.hpp"
#include "engine/host/emulation.hpp"
#include "engine/host/open_tiers.hpp"
#include "engine/host/own_steps.hpp"
#include "engine/ledger/ledger.hpp"
#include "engine/peers/node_group.hpp"
#include "engine/serve/server.hpp"
#include "engine/upkeep/janitor.hpp"
#include "engine/upkeep/store_probe.hpp"
#include "os/crash_point.hpp"
#include "os/fork.hpp"
#include "os/socket.hpp"
#include "os/system.hpp"
#include "redundancy/registry.hpp"
#include "store/emulated.hpp"

namespace perdure::engine {
namespace {

std::uint64_t seconds_to_ns(double seconds) { return seconds <= 0 ? 0 : static_cast<std::uint64_t>(seconds * 1e9); }

constexpr std::uint64_t kStoreLookDelay_ns = 1'000'000'000;

FlusherOptions flusher_options(const config::Config& config) {
  FlusherOptions options;
  options.threads = static_cast<unsigned>(config.integer("flush.threads"));
  options.max_bytes_per_s = config.bytes("flush.max_bandwidth");
  options.max_slowdown = config.real("flush.max_slowdown");
  options.backoff = {seconds_to_ns(config.real("flush.retry_initial")), seconds_to_ns(config.real("flush.retry_max")),
                     seconds_to_ns(config.real("flush.give_up_after"))};
  options.keep_in_tiers = static_cast<std::uint64_t>(config.integer("retention.keep_last"));
  return options;
}

NodeGroupOptions group_options(const config::Config& config) {
  NodeGroupOptions options;
  options.scheme = config.text("redundancy.scheme");
  options.parities = static_cast<unsigned>(config.integer("redundancy.parities"));
  options.fabric.provider = config.text("network.provider");
  options.fabric.bind_address = config.text("network.bind");
  options.parity_servers = config.list("redundancy.parity_servers");
  options.job = job_key(config);
  options.replicator.threads = static_cast<unsigned>(config.integer("redundancy.threads"));
  if (!plan::comes_before(config.list("pipeline"), "replicate", "flush")) options.replicator.first_ns = 0;
  const std::string during_capture = config.text("redundancy.during_capture");
  options.replicator.during_capture = during_capture != "never";
  if (during_capture == "auto")
    options.replicator.busy = [threads = options.replicator.threads] { return os::idle_processors() < threads; };
  options.recovery_threads = options.replicator.threads;
  return options;
}

DuringCapture during_capture(const std::string& text) {
  if (text == "always") return DuringCapture::always;
  return text == "never" ? DuringCapture::never : DuringCapture::automatic;
}

// Its launch may have ended. Then the name is free for the next launch of this job. The case is that launch's to
// choose.
store::Owner owner_for(const config::Config& config) {
  store::Owner owner;
  owner.job = config.text("job");
  owner.host = os::process_space();
  owner.process = os::process_id();
  owner.started = os::process_started(owner.process);
  owner.user = os::user_name();
  owner.since_ns = os::wall_clock_ns();
  owner.lease_ns = seconds_to_ns(config.real("checkpoint.lease"));
  owner.ended = true;
  return owner;
}

plan::RetentionPolicy retention_policy(const config::Config& config) {
  plan::RetentionPolicy policy;
  policy.keep_last = static_cast<std::uint64_t>(config.integer("retention.keep_last"));
  policy.keep_every = static_cast<std::uint64_t>(config.integer("retention.keep_every"));
  return policy;
}

// Captures are flushed before their commit only to a store that can resume segments.
base::Result<NodeStateOptions> placing_options(const config::Config& config, std::vector<TierModel> models,
                                               bool resumable) {
  NodeStateOptions placing{std::move(models), nullptr, static_cast<unsigned>(config.integer("flush.threads")),
                           chunk_bytes(config)};
  PERDURE_TRY(placing.policy, placement::find_policy(config.text("placement.policy")));
  if (resumable) placing.during_capture = during_capture(config.text("flush.during_capture"));
  const auto steps = config.list("pipeline");
  if (std::find(steps.begin(), steps.end(), "retire") != steps.end()) placing.retention = retention_policy(config);
  return placing;
}

// Logs the versions that were dropped, for readers who wonder where they went: the store has them. All arguments
// outlive the server.
LookForRoom look_for_room(const config::Config& config, const Claim& claim, Reports& reports) {
  return [&config, &claim, &reports](const std::function<bool()>& stop) {
    const node::Reclaimed reclaimed = reclaim_room(config, claim, stop);
    for (const node::Left& left : reclaimed.given_up)
      reports.note("room was wanted: what a dead engine left in " + left.directory.path + " was given up (" +
                   node::whose(left) + "): its store has " +
                   (left.holdings.empty() ? "all of it" : node::enumerated(left.holdings)));
    for (const base::Error& failure : reclaimed.failures)
      reports.note("what a dead engine left could not be given up: " + failure.text());
    return RoomFound{reclaimed.lacking_text()};
  };
}

bool nothing_left(Ledger& state) {
  const auto ledger = state.lock();
  return !ledger->holds_unstored() && !ledger->redundancy.needed_by_others();
}

}  // namespace

// Members are in the order of construction. Threads of later members use earlier ones, so they end in reverse.
struct Engine::Parts {
  std::mutex server_mutex;  // guards the server pointer: threads of other parts call wake() while it is set or reset
  Claim claim;
  std::string socket;
  config::Config config;  // added steps may read it as long as they live
  Reports reports;
  std::optional<Emulation> emulation;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<Ledger> ledger;
  std::unique_ptr<NodeGroup> group;
  std::unique_ptr<StoreProbe> store_look;
  std::unique_ptr<Janitor> janitor;
  std::unique_ptr<ReplicateStep> replicate;
  std::unique_ptr<FlushStep> flush;
  std::unique_ptr<RetireStep> retire;
  std::unique_ptr<Pipeline> pipeline;
  std::unique_ptr<Flusher> flusher;
  std::unique_ptr<Server> server;
  bool stopped = false;

  void wake() {
    std::lock_guard guard(server_mutex);
    if (server) server->wake();
  }
};

Engine::Engine(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Engine::~Engine() {
  base::attempt([this] { stop(); });
}
const std::string& Engine::socket_path() const { return parts_->socket; }

base::Status Engine::make_group(Parts& parts, const config::Config& config) {
  Parts* p = &parts;
  NodeGroupOptions options = group_options(config);
  const bool protects = redundancy::keeps_redundancy(options.scheme);
  // Without redundancy the group only reaches what an earlier launch with redundancy left on the nodes.
  if (!protects) options.replicator.threads = 0;
  if (protects) options.replicator.ask_store = [p](const segment::VersionId& id) { p->store_look->ask(id); };
  p->group = std::make_unique<NodeGroup>(*p->ledger, p->reports, std::move(options), [p] {
    p->wake();  // first, so that waits for level node are answered before the flush takes the processors
    if (p->pipeline) p->pipeline->look();
    if (p->flusher) p->flusher->notify();  // it lets replication go first
  });
  PERDURE_CHECK(p->group->started());
  if (!protects) return {};
  p->store_look = std::make_unique<StoreProbe>(*p->store, kStoreLookDelay_ns,
                                               [p](const segment::VersionId& id) { p->group->whole_at_store(id); });
  return p->store_look->started();
}

base::Status Engine::make_pipeline(Parts& parts, std::vector<StepRow> steps) {
  Parts* p = &parts;
  const bool protects = redundancy::keeps_redundancy(p->config.text("redundancy.scheme"));
  p->replicate = std::make_unique<ReplicateStep>(*p->ledger, protects ? p->group.get() : nullptr);
  p->flush = std::make_unique<FlushStep>(*p->ledger);
  p->retire = std::make_unique<RetireStep>(*p->janitor);
  const std::map<std::string, OwnStep*> own = {
      {"replicate", p->replicate.get()}, {"flush", p->flush.get()}, {"retire", p->retire.get()}};
  const StepContext context{p->config, *p->store, p->reports};
  std::vector<Pipeline::Part> made;
  for (StepRow& row : steps) {
    Pipeline::Part& part = made.emplace_back(Pipeline::Part{std::move(row)});
    if (part.row.make) {
      PERDURE_TRY(part.added, make_step(part.row, context));
    } else {
      part.own = own.at(part.row.name);
      part.off = part.row.gives == Level::node && !protects;
    }
  }
  p->pipeline = std::make_unique<Pipeline>(*p->ledger, p->reports, std::move(made), [p] { p->wake(); });
  PERDURE_CHECK(p->pipeline->started());
  p->pipeline->resume();
  return {};
}

// Threads of these parts call other parts, so all threads end before any part is destroyed, even if a start fails half
// way. An exception in one of them does not keep the others from ending.
void Engine::shut(Parts& p) {
  const auto end = [](auto& part, auto how) {
    base::attempt([&] {
      if (part) how(*part);
    });
  };
  const auto stop = [](auto& part) { part.stop(); };
  end(p.server, stop);
  end(p.emulation, [](const auto& emulation) { emulation.shut(); });
  end(p.flusher, stop);
  end(p.pipeline, stop);
  end(p.janitor, stop);
  end(p.store_look, stop);
  end(p.group, stop);
  end(p.server, [](auto& server) { server.close(); });
}

base::Result<std::unique_ptr<Engine>> Engine::start(const config::Config& config, Claim claim, bool idle_exit) {
  auto parts = std::make_unique<Parts>();
  const base::Status made = base::caught("engine", [&] { return make(*parts, config, std::move(claim), idle_exit); });
  if (made) return std::unique_ptr<Engine>(new Engine(std::move(parts)));
  shut(*parts);
  return base::fail(made.error());
}

base::Status Engine::make(Parts& parts, const config::Config& config, Claim claim, bool idle_exit) {
  PERDURE_CHECK(os::arm_crash_point_from_environment());
  PERDURE_TRY(auto steps,
              choose_steps(config.list("pipeline"), redundancy::keeps_redundancy(config.text("redundancy.scheme"))));
  Parts* p = &parts;
  p->claim = std::move(claim);
  p->config = config;
  os::keep_from_children(p->claim.lock.fd());
  const NodePaths& paths = p->claim.paths;
  p->socket = paths.socket();
  PERDURE_CHECK(p->reports.log_to(paths.node + "/engine.log"));
  store::StoreOptions storing = config.below("store.");
  storing[store::kWriter] = p->claim.paths.node;
  PERDURE_TRY(p->store, store::make_store(config.text("store.path"), storing));
  PERDURE_TRY(p->emulation, make_emulation(config));
  if (p->emulation) p->store = store::emulate(std::move(p->store), p->emulation->store);
  PERDURE_TRY(auto catalog, catalog::Catalog::open(paths.node, config.bytes("catalog.compact_above")));
  PERDURE_TRY(auto open, open_tiers(config, paths, p->emulation, catalog.state(), p->reports));
  PERDURE_TRY(auto placing, placing_options(config, std::move(open.models), p->store->properties().resumable));
  std::uint64_t slot_bytes = 0;
  p->ledger = std::make_unique<Ledger>(std::move(catalog), std::move(open.tiers), p->reports, std::move(placing));
  {
    const auto ledger = p->ledger->lock();
    PERDURE_CHECK(ledger->recover());
    slot_bytes = ledger->slot_bytes();
  }

  PERDURE_CHECK(make_group(*p, config));
  p->janitor = std::make_unique<Janitor>(*p->store, p->reports, retention_policy(config), [p] { p->wake(); });
  PERDURE_CHECK(p->janitor->started());
  PERDURE_CHECK(make_pipeline(*p, std::move(steps)));
  PERDURE_TRY(auto listener, os::listen_at(p->socket));  // last, so that a start that fails before leaves no socket
  FlusherOptions flushing = flusher_options(config);
  if (p->store->properties().resumable) flushing.room = [p] { p->wake(); };
  flushing.owner = owner_for(config);
  flushing.forgotten = [p](const segment::VersionId& id) {
    if (p->group) p->group->gone(id);
  };
  flushing.all_stored = [p](const segment::VersionId& id) { p->pipeline->note_stored(id); };
  p->flusher = std::make_unique<Flusher>(
      *p->ledger, *p->store, p->reports, std::move(flushing),
      [p](const segment::VersionId& id, bool stored) {
        if (stored) p->pipeline->stored(id);
        p->wake();
      },
      [p] { p->wake(); });
  PERDURE_CHECK(p->flusher->started());
  p->flush->use(*p->flusher);
  ServerOptions options;
  options.fingerprint = config.fingerprint();
  options.chunk_bytes = std::min(chunk_bytes(config), slot_bytes);
  options.group = p->group.get();
  options.identity = {config.text("job"), p->claim.node_label, config.text("engine.mode"),
                      config.text("redundancy.scheme"), os::wall_clock_ns()};
  options.look_for_room = look_for_room(p->config, p->claim, p->reports);
  options.idle_exit_ns = idle_exit ? seconds_to_ns(config.real("engine.idle_exit")) : 0;
  auto server = std::make_unique<Server>(*p->ledger, *p->flusher, *p->janitor, *p->pipeline, p->reports,
                                         std::move(listener), options);
  {
    std::lock_guard guard(p->server_mutex);
    p->server = std::move(server);
  }
  return p->server->started();
}

void Engine::wait_until_over() { parts_->server->wait_until_over(); }

void Engine::stop() {
  Parts& p = *parts_;
  if (std::exchange(p.stopped, true)) return;
  shut(p);
  if (nothing_left(*p.ledger)) {
    remove_tiers(*p.ledger);  // removes their data only, since other parts still refer to the tiers
    remove_directories(p.claim);
  } else {
    (void)os::remove_file(p.socket);
  }
  p.claim.lock = os::File();
}

}  // namespace perdure::engine
