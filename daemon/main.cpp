// perdured runs the engine as a process of its own. This file is wiring only.
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "config/effective.hpp"
#include "config/engine_cpus.hpp"
#include "engine/host/engine.hpp"
#include "os/affinity.hpp"
#include "os/descriptors.hpp"
#include "os/fault_rules.hpp"
#include "os/system.hpp"
#include "os/thread.hpp"

namespace {

using namespace perdure;

struct Arguments {
  std::string settings, node_label;
  std::vector<std::string> set, claimed_paths;
  int claimed_fd = -1;
  bool idle_exit = false;
};

base::Result<config::Config> configuration(const Arguments& arguments) {
  config::Config config;
  if (arguments.settings.empty()) {
    PERDURE_TRY(config, config::load("", arguments.set));
  } else {
    PERDURE_TRY(const auto bytes, os::read_file(arguments.settings, 1 << 20));
    PERDURE_CHECK(config.set_all({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, config::Origin::file,
                                 arguments.settings));
  }
  PERDURE_CHECK(config::make_paths_absolute(config));
  // perdured is always a daemon, however it was started and whatever mode its settings name: others ask it to end by
  // that.
  PERDURE_CHECK(config.set("engine.mode", "daemon", config::Origin::command_line));
  return config;
}

base::Result<engine::Claim> claim(const Arguments& arguments, const config::Config& config) {
  if (arguments.claimed_fd >= 0 && !arguments.claimed_paths.empty()) {
    engine::NodePaths paths{arguments.claimed_paths.front()};
    for (std::size_t i = 1; i < arguments.claimed_paths.size(); ++i) {
      const std::string& path = arguments.claimed_paths[i];
      paths.tiers[path.substr(0, path.find('='))] = path.substr(path.find('=') + 1);
    }
    return engine::Claim{paths, os::File::adopt(os::Fd(arguments.claimed_fd), paths.node + "/engine.lock"),
                         arguments.node_label};
  }
  PERDURE_TRY(auto claimed, engine::claim(config, arguments.node_label));
  if (auto* existing = std::get_if<engine::Existing>(&claimed))
    return base::fail(PERDURE_BUSY, existing->paths.node,
                      "an engine for this store, job and configuration runs already");
  return std::get<engine::Claim>(std::move(claimed));
}

base::Status serve(const Arguments& arguments) {
  PERDURE_CHECK(os::install_faults_from_environment());
  os::raise_descriptor_limit();
  PERDURE_TRY(const auto config, configuration(arguments));
  if (arguments.settings.empty()) {  // otherwise the client that started us chose for us: only it knows its launcher
    PERDURE_TRY(const auto chosen, config::engine_cpus(config));
    os::use_cpus(chosen.cpus);
  }
  PERDURE_TRY(auto claimed, claim(arguments, config));
  // Signals end the engine in order; blocked before any thread starts, so that all threads inherit it.
  sigset_t signals;
  ::sigemptyset(&signals);
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  PERDURE_TRY(auto engine, engine::Engine::start(config, std::move(claimed), arguments.idle_exit));
  const auto end = [] { ::kill(::getpid(), SIGTERM); };
  PERDURE_TRY(auto over, os::Thread::start(
                             "end",
                             [&engine, end] {
                               engine->wait_until_over();
                               end();
                             },
                             [end](const base::Error&) {
                               end();
                               return false;
                             }));
  int received = 0;
  ::sigwait(&signals, &received);
  engine->stop();
  over.join();  // its signal, if it sends another, stays blocked
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "perdured: the Perdure engine of one node and one job. Reads the same configuration as the application."};
  Arguments arguments;
  arguments.node_label = os::host_name();
  app.add_option("--set", arguments.set, "a setting, key=value (repeatable)");
  app.add_option("--node-label", arguments.node_label, "which node this is; simulated nodes are HOST#N")
      ->capture_default_str();
  app.add_flag("--idle-exit", arguments.idle_exit,
               "end after engine.idle_exit seconds without clients and without work");
  app.add_option("--settings", arguments.settings, "settings written by the client that starts us")->group("");
  app.add_option("--claimed-fd", arguments.claimed_fd, "descriptor of the lock that the client took for us")->group("");
  app.add_option("--claimed-paths", arguments.claimed_paths,
                 "directories that go with it: the node's, and TIER=PATH of each")
      ->group("");
  CLI11_PARSE(app, argc, argv);
  if (auto served = base::caught("perdured", [&] { return serve(arguments); }); !served) {
    std::fprintf(stderr, "perdured: %s\n", served.error().text().c_str());
    return served.error().code == PERDURE_BUSY ? 0 : 1;
  }
  return 0;
}
