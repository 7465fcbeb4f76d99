// Benchmarks the processor time of the engine's server thread while 256 connected ranks wait for a slot. It includes
// the kernel's work for polling and messages.
#include "engine/serve/server.hpp"

#include <time.h>

#include "engine/flush/flusher.hpp"
#include "engine/pipeline/pipeline.hpp"
#include "engine/upkeep/janitor.hpp"
#include "ipc/channel.hpp"
#include "os/socket.hpp"
#include "os/system.hpp"
#include "producers.hpp"
#include "support/wake_ups.hpp"

namespace perdure::decision_cost {
namespace {

constexpr std::uint64_t kPatienceNs = 20'000'000'000, kLookNs = 100'000;

/// Reads the clock of pthread_getcpuclockid() for a thread of which only the number is known.
double processor_s(int thread) {
  timespec time{};
  ::clock_gettime(static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3U) | 6U), &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

class Queue {
 public:
  Queue(const std::string& policy, Held held)
      : producers_(policy, held),
        store_(store::make_store(producers_.path("store")).value()),
        janitor_(*store_, producers_.reports(), {}, [] {}),
        flusher_(producers_.ledger(), *store_, producers_.reports(), {}, [](const auto&, bool) {}),
        pipeline_(producers_.ledger(), producers_.reports(), {}, [] {}) {
    auto listener = os::listen_at(producers_.path("socket")).value();
    const auto before = test_support::threads();
    server_ = std::make_unique<engine::Server>(producers_.ledger(), flusher_, janitor_, pipeline_, producers_.reports(),
                                               std::move(listener), engine::ServerOptions{});
    for (const int thread : test_support::threads())
      if (!before.contains(thread)) thread_ = thread;
    ready_ = producers_.ready() && thread_ != 0 && line_up();
  }
  bool ready() const { return ready_; }
  bool at_end() const { return producers_.at_end(head_); }

  /// Returns the server's processor time since the last call.
  double passed_s() {
    const double before = std::exchange(processor_s_, processor_s(thread_));
    return processor_s_ - before;
  }
  /// Wakes the server without freeing a slot. Returns false if the head of the queue is not asked again.
  bool disturb() {
    const std::uint64_t before = last_decision().times;
    server_->wake();
    return await([&] { return last_decision().times > before; });
  }
  /// Frees a slot; the head of the queue gets it, says that it wrote it, and joins the queue's end.
  bool next_chunk() {
    if (!producers_.flush_one()) return false;
    server_->wake();
    const auto granted = ranks_[head_].await(asked_[head_], kPatienceNs);
    if (!granted || granted->slot.tier != 0) return false;
    const tier::SlotAddress address{granted->slot.tier, granted->slot.slot, {}, 0, 0, false, false};
    if (!ranks_[head_].tell(producers_.writes(head_, address)) || !ask(head_)) return false;
    return find_head();
  }

 private:
  bool ask(std::uint32_t rank) {
    const auto posted = ranks_[rank].post(producers_.request());
    if (posted) asked_[rank] = *posted;
    return posted.has_value();
  }
  // The server numbers its clients in order of connection: rank 0 is client 1, as for the producers.
  bool line_up() {
    for (ipc::Hello hello; hello.rank < kRanks; ++hello.rank) {
      auto channel = ipc::Channel::connect(producers_.path("socket"));
      if (!channel || !channel->call(hello)) return false;
      ranks_.push_back(std::move(*channel));
    }
    for (std::uint32_t rank = 0; rank < kRanks; ++rank)
      if (!ask(rank)) return false;
    return ranks_[0].call(ipc::Progress{}) && find_head();
  }
  engine::NotedDecision last_decision() {
    const auto ledger = producers_.ledger().lock();
    return ledger->grants.decisions().recent().back();
  }
  // The next head was asked when the previous one got its slot, and has to wait. It is not always the next rank,
  // because the server hears simultaneous messages in any order.
  bool find_head() {
    engine::NotedDecision last;
    const auto waits = [&] {
      last = last_decision();
      return !last.decision.tier;
    };
    if (!await(waits)) return false;
    head_ = static_cast<std::uint32_t>(last.client - 1);
    return true;
  }
  template <class Condition>
  static bool await(Condition condition) {
    for (std::uint64_t waited_ns = 0; waited_ns < kPatienceNs; waited_ns += kLookNs) {
      os::sleep_ns(kLookNs);
      if (condition()) return true;
    }
    return false;
  }

  Producers producers_;
  std::unique_ptr<store::Store> store_;
  engine::Janitor janitor_;
  engine::Flusher flusher_;
  engine::Pipeline pipeline_;
  std::unique_ptr<engine::Server> server_;
  std::vector<ipc::Channel> ranks_;
  std::vector<ipc::Posted<ipc::Granted>> asked_ = std::vector<ipc::Posted<ipc::Granted>>(kRanks);
  std::uint32_t head_ = 0;
  int thread_ = 0;
  double processor_s_ = 0;
  bool ready_ = false;
};

void disturbed(benchmark::State& state, const std::string& policy) {
  Queue queue(policy, situation(state));
  if (!queue.ready() || !queue.disturb()) return state.SkipWithError("nobody waits");
  (void)queue.passed_s();
  for (auto _ : state) {
    if (!queue.disturb()) return state.SkipWithError("the head of the queue was not asked again");
    state.SetIterationTime(queue.passed_s());
  }
}

void chunk(benchmark::State& state, const std::string& policy) {
  std::optional<Queue> queue;
  for (auto _ : state) {
    if (!queue || queue->at_end()) {
      queue.emplace(policy, situation(state));
      if (!queue->ready() || !queue->next_chunk()) return state.SkipWithError("nobody waits");
      (void)queue->passed_s();
    }
    if (!queue->next_chunk()) return state.SkipWithError("no slot was granted");
    state.SetIterationTime(queue->passed_s());
  }
}

const bool registered_server = [] {
  for (const std::string policy : {"adaptive", "hybrid-opt"}) {
    situations(benchmark::RegisterBenchmark(("server/event/" + policy).c_str(), disturbed, policy)->UseManualTime());
    situations(benchmark::RegisterBenchmark(("server/chunk/" + policy).c_str(), chunk, policy)->UseManualTime());
  }
  return true;
}();

}  // namespace
}  // namespace perdure::decision_cost
