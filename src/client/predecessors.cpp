#include "client/predecessors.hpp"

#include "engine/host/node_directory.hpp"
#include "ipc/channel.hpp"
#include "ipc/inspection_messages.hpp"
#include "os/system.hpp"

namespace perdure::client {
namespace {

constexpr std::uint64_t kAnswer_ns = 2'000'000'000;
constexpr std::uint64_t kPoll_ns = 5'000'000;
constexpr std::uint64_t kNotice_ns = 1'000'000'000;  // a wait that takes longer is told

// Ranks that were killed a moment ago may still be connected: they are given a second to be gone.
bool hands_over(const engine::NodePaths& paths) {
  auto channel = ipc::Channel::connect_at_once(paths.socket());
  if (!channel) return false;
  ipc::Hello hello;
  hello.client = false;
  if (!channel->call(hello, kAnswer_ns)) return false;
  for (const std::uint64_t begun = os::monotonic_ns();; os::sleep_ns(kPoll_ns)) {
    const auto asked = channel->call(ipc::Shutdown{true}, kAnswer_ns);
    if (asked) return true;
    if (asked.error().code != PERDURE_BUSY || os::monotonic_ns() - begun > kNotice_ns) return false;
  }
}

// The lock is free when its process is gone, or its last descriptor.
base::Status wait_until_gone(const engine::NodePaths& paths, std::uint64_t most_ns, const Messages& messages) {
  const std::uint64_t begun = os::monotonic_ns();
  for (bool told = false;; os::sleep_ns(kPoll_ns)) {
    const auto lock = os::File::open(paths.node + "/engine.lock", os::Open::read_write);
    if (!lock || lock->try_lock()) return {};
    const std::uint64_t passed = os::monotonic_ns() - begun;
    if (passed > most_ns)
      return base::fail(PERDURE_UNAVAILABLE, paths.node,
                        "the engine of an earlier launch, with another configuration, does not end; it may hold newer "
                        "versions than the store",
                        "see what it waits for (perdure top), or start with its configuration", true);
    if (!told && passed > kNotice_ns) {
      messages.say("waiting for the engine of an earlier launch to hand over " + paths.node);
      told = true;
    }
  }
}

}  // namespace

base::Status end_predecessors(const config::Config& config, const std::string& node_label, const Messages& messages) {
  const double limit_s = config.real("engine.drain_timeout");
  for (const auto& paths : engine::held_by_others(config, node_label))
    if (hands_over(paths)) PERDURE_CHECK(wait_until_gone(paths, static_cast<std::uint64_t>(limit_s * 1e9), messages));
  return {};
}

}  // namespace perdure::client
