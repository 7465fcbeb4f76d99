#include "client/predecessors.hpp"

#include <optional>

#include "engine/host/node_directory.hpp"
#include "ipc/channel.hpp"
#include "ipc/inspection_messages.hpp"
#include "os/system.hpp"

namespace perdure::client {
namespace {

constexpr std::uint64_t kAnswer_ns = 2'000'000'000;
constexpr std::uint64_t kPoll_ns = 5'000'000;
constexpr std::uint64_t kNotice_ns = 1'000'000'000;  // a wait that takes longer is told

bool is_held(const engine::NodePaths& paths) {
  const auto lock = os::File::open(paths.node + "/engine.lock", os::Open::read_write);
  return lock && !lock->try_lock();
}

// Ranks that were killed a moment ago may still be connected: they are given a second to be gone. Nothing where nobody
// answers.
std::optional<bool> asked_to_end(const engine::NodePaths& paths) {
  auto channel = ipc::Channel::connect_at_once(paths.socket());
  if (!channel) return std::nullopt;
  ipc::Hello hello;
  hello.client = false;
  if (!channel->call(hello, kAnswer_ns)) return std::nullopt;
  for (const std::uint64_t begun = os::monotonic_ns();; os::sleep_ns(kPoll_ns)) {
    const auto asked = channel->call(ipc::Shutdown{true}, kAnswer_ns);
    if (asked) return true;
    if (asked.error().code == PERDURE_UNAVAILABLE || asked.error().code == PERDURE_TIMEOUT) return std::nullopt;
    if (asked.error().code != PERDURE_BUSY || os::monotonic_ns() - begun > kNotice_ns) return false;
  }
}

base::Status stays(const engine::NodePaths& paths, const char* how) {
  return base::fail(PERDURE_UNAVAILABLE, paths.node,
                    std::string("the engine of an earlier launch, with another configuration, does not ") + how +
                        "; it may hold newer versions than the store",
                    "see what it waits for (perdure top), or start with its configuration", true);
}

// One that was killed holds its directory until its memory is released, and one that starts does not answer yet: who
// passed over them would begin beside what they have.
base::Result<bool> hands_over(const engine::NodePaths& paths, std::uint64_t patience_ns) {
  for (const std::uint64_t begun = os::monotonic_ns();; os::sleep_ns(kPoll_ns)) {
    if (const auto answered = asked_to_end(paths)) return *answered;
    if (!is_held(paths)) return true;
    if (os::monotonic_ns() - begun > patience_ns) return base::fail(stays(paths, "answer").error());
  }
}

// The lock is free when its process is gone, or its last descriptor.
base::Status wait_until_gone(const engine::NodePaths& paths, std::uint64_t most_ns, const Messages& messages) {
  const std::uint64_t begun = os::monotonic_ns();
  for (bool told = false;; os::sleep_ns(kPoll_ns)) {
    if (!is_held(paths)) return {};
    const std::uint64_t passed = os::monotonic_ns() - begun;
    if (passed > most_ns) return stays(paths, "end");
    if (!told && passed > kNotice_ns) {
      messages.say("waiting for the engine of an earlier launch to hand over " + paths.node);
      told = true;
    }
  }
}

}  // namespace

base::Status end_predecessors(const config::Config& config, const std::string& node_label, const Messages& messages) {
  const auto answers_ns = static_cast<std::uint64_t>(config.real("engine.start_timeout") * 1e9);
  const auto ends_ns = static_cast<std::uint64_t>(config.real("engine.drain_timeout") * 1e9);
  for (const auto& paths : engine::held_by_others(config, node_label)) {
    PERDURE_TRY(const bool over, hands_over(paths, answers_ns));
    if (over) PERDURE_CHECK(wait_until_gone(paths, ends_ns, messages));
  }
  return {};
}

}  // namespace perdure::client
