#include "client/engine_host.hpp"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "client/drain.hpp"
#include "client/predecessors.hpp"
#include "config/daemon_program.hpp"
#include "config/directories.hpp"
#include "ipc/channel.hpp"
#include "os/affinity.hpp"
#include "os/daemon_environment.hpp"
#include "os/spawn.hpp"
#include "os/system.hpp"

namespace perdure::client {
namespace {

std::mutex registry_mutex;
struct Registered {
  std::weak_ptr<engine::Engine> engine;
  std::int32_t process = 0;  // the process that hosts it; not one that it forks
  DrainLimits limits = {};
};
// Engines that this process hosts, by socket. Never destroyed: handles may outlive static destruction.
std::map<std::string, Registered>& registry() {
  static auto* engines = new std::map<std::string, Registered>;
  return *engines;
}

// Writes the settings, so that a perdured with the same configuration can be started for this process's leftovers. A
// failure is ignored.
void note_settings(const config::Config& config, const std::string& socket) {
  (void)base::caught("engine", [&]() -> base::Status {
    const std::string text = config.serialise();
    return os::write_file_atomically(socket.substr(0, socket.rfind('/')) + "/engine.conf", base::as_bytes(text));
  });
}

base::Result<HostedEngine> host_here(const config::Config& config, const std::string& label, const os::CpuSet& cpus) {
  std::lock_guard guard(registry_mutex);
  PERDURE_TRY(auto claimed, engine::claim(config, label));
  if (auto* existing = std::get_if<engine::Existing>(&claimed)) {
    HostedEngine hosted;
    hosted.socket = existing->paths.socket();
    hosted.engine = registry()[hosted.socket].engine.lock();
    return hosted;
  }
  // The engine's start, or one of its threads, begins every thread of it.
  PERDURE_TRY(auto engine, os::on_cpus(cpus, [&] {
                return engine::Engine::start(config, std::get<engine::Claim>(std::move(claimed)), false);
              }));
  HostedEngine hosted;
  hosted.engine = std::move(engine);
  hosted.socket = hosted.engine->socket_path();
  note_settings(config, hosted.socket);
  registry()[hosted.socket] = {
      hosted.engine, os::process_id(), {config.text("store.path"), config.real("engine.drain_timeout")}};
  return hosted;
}

base::Status start_daemon(const config::Config& config, const std::string& label, engine::Claim claim) {
  PERDURE_TRY(const std::string program, config::find_daemon(config));
  config::Config told = config;  // it runs elsewhere: settings that depend on our working directory are passed
  if (const auto models = config::model_root(config))
    PERDURE_CHECK(told.set("placement.models", *models, config::Origin::program));
  const std::string settings = claim.paths.node + "/engine.conf", text = told.serialise();
  PERDURE_CHECK(os::write_file_atomically(settings, base::as_bytes(text)));
  os::BackgroundProgram started;
  started.path = program;
  started.environment = os::daemon_environment(store::credentials_family(config.text("store.path")));
  started.errors = claim.paths.errors();
  started.keep_fd = claim.lock.fd();
  started.arguments = {"--settings",
                       settings,
                       "--node-label",
                       label,
                       "--idle-exit",
                       "--claimed-fd",
                       std::to_string(claim.lock.fd()),
                       "--claimed-paths",
                       claim.paths.node};
  for (const auto& [tier, path] : claim.paths.tiers) started.arguments.push_back(tier + "=" + path);
  return os::spawn_daemon(started);
}

// Gives the last line that perdured wrote before it ended, which says why; empty if there is none.
std::string last_words(const engine::NodePaths& paths) {
  const auto bytes = os::read_file(paths.errors(), 1 * base::MiB);
  if (!bytes) return {};
  std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  text.erase(text.find_last_not_of("\n ") + 1);
  text.erase(0, text.rfind('\n') + 1);
  constexpr std::string_view kProgram = "perdured: ";
  return text.starts_with(kProgram) ? text.substr(kProgram.size()) : text;
}

// Waits until an engine listens there, the time is over, or the daemon is seen to be gone.
base::Status await_engine(const config::Config& config, const engine::NodePaths& paths) {
  const std::string socket = paths.socket();
  const std::uint64_t deadline =
      os::monotonic_ns() + static_cast<std::uint64_t>(config.real("engine.start_timeout") * 1e9);
  for (;;) {
    if (ipc::Channel::connect(socket)) return {};
    // An engine that is starting holds the lock; when nobody does, it is dead.
    auto lock = os::File::open(paths.node + "/engine.lock", os::Open::read_write);
    if (!lock || lock->try_lock()) {
      const std::string why = last_words(paths);
      return base::fail(PERDURE_UNAVAILABLE, "perdured at " + socket,
                        "it ended before it answered" + (why.empty() ? "" : ": " + why),
                        "look at engine.log beside the socket", true);
    }
    if (os::monotonic_ns() >= deadline) break;
    os::sleep_ns(5'000'000);
  }
  return base::fail(PERDURE_TIMEOUT, "perdured at " + socket, "it does not answer within engine.start_timeout",
                    "look at engine.log beside the socket, or run perdured by hand to see why it ends", true);
}

}  // namespace

base::Result<HostedEngine> obtain_engine(const config::Config& config, const std::string& label, const os::CpuSet& cpus,
                                         const Messages& messages) {
  PERDURE_CHECK(end_predecessors(config, label, messages));
  if (config.text("engine.mode") != "daemon") return host_here(config, label, cpus);
  PERDURE_TRY(auto claimed, engine::claim(config, label));
  engine::NodePaths paths;
  if (auto* existing = std::get_if<engine::Existing>(&claimed)) {
    paths = existing->paths;
  } else {
    auto& claim = std::get<engine::Claim>(claimed);
    paths = claim.paths;
    if (!config.boolean("engine.spawn"))
      return base::fail(PERDURE_UNAVAILABLE, "perdured",
                        "none runs for this store, job and configuration, and engine.spawn is off",
                        "start perdured on this node with the same configuration", true);
    PERDURE_CHECK(os::on_cpus(cpus, [&] { return start_daemon(config, label, std::move(claim)); }));
  }
  PERDURE_CHECK(await_engine(config, paths));
  HostedEngine hosted;
  hosted.socket = paths.socket();
  return hosted;
}

// Connects as a tool: the ranks' own connections may be in use.
void drain_hosted_engines() {
  std::vector<std::pair<std::string, std::uint64_t>> hosted;
  {
    std::lock_guard guard(registry_mutex);
    for (const auto& [socket, registered] : registry())
      if (registered.process == os::process_id() && !registered.engine.expired())
        hosted.emplace_back(socket, registered.limits.timeout_ns());
  }
  for (const auto& one : hosted)
    (void)base::caught("engine", [&]() -> base::Status {
      PERDURE_TRY(auto channel, ipc::Channel::connect(one.first));
      ipc::Hello tool;
      tool.client = false;
      PERDURE_CHECK(channel.call(tool));
      PERDURE_CHECK(channel.call(ipc::Drain{one.second}));
      return {};
    });
}

}  // namespace perdure::client
