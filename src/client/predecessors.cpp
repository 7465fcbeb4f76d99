#include "client/predecessors.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include "engine/host/node_directory.hpp"
#include "ipc/channel.hpp"
#include "ipc/inspection_messages.hpp"
#include "os/system.hpp"

namespace perdure::client {
namespace {

constexpr std::uint64_t kAnswer_ns = 2'000'000'000;
constexpr std::uint64_t kPoll_ns = 5'000'000;
constexpr std::uint64_t kNotice_ns = 1'000'000'000;  // a longer wait is told

// No engine listens, too many clients wait already (BUSY), or the connection ends.
bool nobody_answers(const base::Error& error) {
  return error.code == PERDURE_UNAVAILABLE || error.code == PERDURE_TIMEOUT || error.code == PERDURE_BUSY;
}

// True: it ends. False: it may stay beside the next one. Ranks that were killed a moment ago may still be connected:
// they get a second to go.
base::Result<bool> asked_to_end(const engine::NodePaths& paths) {
  PERDURE_TRY(auto channel, ipc::Channel::connect_at_once(paths.socket()));
  ipc::Hello hello;
  hello.client = false;
  PERDURE_CHECK(channel.call(hello, kAnswer_ns));
  for (const std::uint64_t begun = os::monotonic_ns();; os::sleep_ns(kPoll_ns)) {
    const auto asked = channel.call(ipc::Shutdown{true}, kAnswer_ns);
    if (asked) return true;
    const bool has_ranks = asked.error().code == PERDURE_BUSY;
    if (!has_ranks && nobody_answers(asked.error())) return base::fail(asked.error());
    if (!has_ranks || os::monotonic_ns() - begun > kNotice_ns) return false;
  }
}

base::Status stays(const engine::NodePaths& paths, const std::string& how) {
  return base::fail(PERDURE_UNAVAILABLE, paths.node,
                    "the engine of an earlier launch, with another configuration, does not " + how +
                        "; it may hold newer versions than the store",
                    "see what it waits for (perdure top), or start with its configuration", true);
}

// Waits until `over` is true, or the time is over.
template <class Over>
base::Status wait_until(const engine::NodePaths& paths, const char* what, std::uint64_t most_ns,
                        const Messages& messages, Over over) {
  const std::uint64_t begun = os::monotonic_ns();
  for (bool told = false; !over(); os::sleep_ns(kPoll_ns)) {
    const std::uint64_t passed = os::monotonic_ns() - begun;
    if (passed > most_ns) return stays(paths, what);
    if (told || passed <= kNotice_ns) continue;
    messages.say("waiting for the engine of an earlier launch to hand over " + paths.node);
    told = true;
  }
  return {};
}

// A killed engine holds its directory until its memory is released, and a starting one does not answer yet. A new
// engine that passed over them would begin beside their holdings. False also for one that is gone, or turns out to be
// like this one.
base::Result<bool> hands_over(const engine::NodePaths& paths, std::uint64_t most_ns, const Messages& messages,
                              const std::function<bool()>& is_other) {
  base::Result<bool> answer = false;
  PERDURE_CHECK(wait_until(paths, "answer", most_ns, messages, [&] {
    answer = is_other() ? asked_to_end(paths) : base::Result<bool>(false);
    return answer || !nobody_answers(answer.error());
  }));
  if (!answer) return base::fail(stays(paths, "hand over: " + answer.error().text()).error());
  return answer;
}

// The lock is free when its process is gone, or its last descriptor.
bool is_held(const engine::NodePaths& paths) {
  const auto lock = os::File::open(paths.node + "/engine.lock", os::Open::read_write);
  return lock && !lock->try_lock();
}

}  // namespace

base::Status end_predecessors(const config::Config& config, const std::string& node_label, const Messages& messages) {
  const auto answers_ns = static_cast<std::uint64_t>(config.real("engine.start_timeout") * 1e9);
  const auto ends_ns = static_cast<std::uint64_t>(config.real("engine.drain_timeout") * 1e9);
  for (const auto& paths : engine::held_by_others(config, node_label)) {
    const auto is_other = [&] {
      const auto others = engine::held_by_others(config, node_label);
      return std::any_of(others.begin(), others.end(), [&](const auto& other) { return other.node == paths.node; });
    };
    PERDURE_TRY(const bool ends, hands_over(paths, answers_ns, messages, is_other));
    if (ends) PERDURE_CHECK(wait_until(paths, "end", ends_ns, messages, [&] { return !is_held(paths); }));
  }
  return {};
}

}  // namespace perdure::client
