#pragma once
// A node's leader gets an engine here: one that it hosts itself, or perdured.
#include <memory>
#include <string>

#include "client/messages.hpp"
#include "config/config.hpp"
#include "engine/host/engine.hpp"
#include "os/cpu_set.hpp"

namespace perdure::client {

struct HostedEngine {
  std::shared_ptr<engine::Engine> engine;  ///< set when this process hosts it
  std::string socket;
};

/// Obtains an engine. Embedded: hosts one, shared by all handles of this process with the same store, job and
/// configuration. If another process hosts it, uses that one. Daemon: finds the running perdured or (engine.spawn)
/// starts one. An engine that is begun here runs on `cpus`; empty: as the calling thread. `messages`: tells people
/// about waits.
base::Result<HostedEngine> obtain_engine(const config::Config& config, const std::string& node_label,
                                         const os::CpuSet& cpus = {}, const Messages& messages = {});

/// [local] Waits until the engines that this process hosts have stored their versions. Each takes no longer than its
/// engine.drain_timeout. It is for the end of a process whose handles are in use by calls that go on.
void drain_hosted_engines();

}  // namespace perdure::client
