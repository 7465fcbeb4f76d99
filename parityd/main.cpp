// perdure-parityd runs a parity server as a process. This file is wiring only.
#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "os/descriptors.hpp"
#include "os/fault_rules.hpp"
#include "os/system.hpp"
#include "parity/server.hpp"
#include "parity/server_file.hpp"

namespace {

using namespace perdure;

struct Arguments {
  std::string endpoint, key_of;
  std::string provider = "tcp", bind;
  std::string pool = "1GiB";
  unsigned orders = 16, lanes = 2;
};

network::JobKey fresh_key() {
  network::JobKey key{};
  for (std::size_t i = 0; i < key.size(); i += sizeof(std::uint64_t)) {
    const std::uint64_t random = os::random_u64();
    std::copy_n(reinterpret_cast<const std::byte*>(&random), sizeof random, key.begin() + i);
  }
  return key;
}

/// Takes the key of another server, or the one that this one had before, or a new one.
base::Result<network::JobKey> choose_key(const Arguments& arguments) {
  const std::string& from = arguments.key_of.empty() ? arguments.endpoint : arguments.key_of;
  const auto known = parity::read_server_file(from);
  if (known) return known->key;
  if (arguments.key_of.empty() && known.error().code == PERDURE_NOT_FOUND) return fresh_key();
  return base::fail(known.error());
}

/// Held as long as the server lives, so that no second one takes over its file.
base::Result<os::File> claim(const std::string& endpoint) {
  PERDURE_TRY(os::File lock, os::File::open(endpoint + ".lock", os::Open::create));
  if (const auto locked = lock.try_lock(); !locked)
    return base::fail(PERDURE_BUSY, endpoint, "a parity server with this file runs already");
  return lock;
}

base::Status serve(const Arguments& arguments) {
  PERDURE_CHECK(os::install_faults_from_environment());
  os::raise_descriptor_limit();
  parity::ServerOptions options;
  PERDURE_TRY(options.pool_bytes, base::parse_bytes(arguments.pool));
  options.orders_at_once = arguments.orders;
  options.lanes = arguments.lanes;
  options.endpoint.service_threads = 8;
  // Signals end it in order; blocked before any thread starts, so that all threads inherit it.
  sigset_t signals;
  ::sigemptyset(&signals);
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  PERDURE_TRY(const os::File claimed, claim(arguments.endpoint));
  PERDURE_TRY(options.endpoint.job_key, choose_key(arguments));
  PERDURE_TRY(auto wire, network::make_fabric_wire({arguments.provider, arguments.bind}));
  PERDURE_TRY(const auto server, parity::Server::start(std::move(wire), options));
  PERDURE_CHECK(parity::write_server_file(arguments.endpoint, {server->address(), options.endpoint.job_key}));
  int received = 0;
  ::sigwait(&signals, &received);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "perdure-parityd: memory in the network that keeps parities. Reads the checkpoints of a group of nodes from "
      "their "
      "engines, and keeps what is needed to rebuild a lost one."};
  Arguments arguments;
  app.add_option("--endpoint", arguments.endpoint,
                 "file to write for its clients (redundancy.parity_servers): address and key")
      ->required();
  app.add_option("--pool", arguments.pool, "memory for parities")->capture_default_str();
  app.add_option("--key-of", arguments.key_of,
                 "file of another server, whose key this one takes over: servers of one job");
  app.add_option("--provider", arguments.provider, "of libfabric, as the jobs have it")->capture_default_str();
  app.add_option("--bind", arguments.bind, "name or address of the network interface; its clients have to reach it");
  app.add_option("--orders", arguments.orders, "groups that are read at once")
      ->check(CLI::Range(1U, 1024U))
      ->capture_default_str();
  app.add_option("--lanes", arguments.lanes, "stripes of one group that are read at once")
      ->check(CLI::Range(1U, 64U))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (const auto served = base::caught("perdure-parityd", [&] { return serve(arguments); }); !served) {
    std::fprintf(stderr, "perdure-parityd: %s\n", served.error().text().c_str());
    return 1;
  }
  return 0;
}
