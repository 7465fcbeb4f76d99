// Runs launches as forked ranks on simulated nodes, with fault rules, crash points, kills and losses.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "campaign/arrays.hpp"
#include "campaign/driver.hpp"
#include "campaign/rank_life.hpp"
#include "campaign/rank_state.hpp"
#include "damage.hpp"
#include "faults.hpp"
#include "node_directories.hpp"
#include "store/store.hpp"
#include "support/eventually.hpp"

namespace perdure::campaign {
namespace {

using namespace test_support;

constexpr double kLaunchLimit_s = 100;
constexpr int kRivalsNode = 900;
constexpr std::size_t kLeastFlipped = 77;  // offset of the bit within a state

std::string joined_numbers(const std::vector<int>& numbers) {
  std::string all;
  for (const int number : numbers) all += (all.empty() ? "" : ",") + std::to_string(number);
  return all;
}

class RealDriver : public Driver {
 public:
  RealDriver(std::string directory, Lie lie) : directory_(std::move(directory)), faults_(directory_), lie_(lie) {}
  Told launch(const Scenario& scenario, std::size_t number) override;
  Destroyed destroy(const Scenario& scenario, std::size_t number) override;

 private:
  std::string options(const Scenario& scenario, std::size_t number) const;
  std::string rules(const Scenario& scenario, std::size_t number) const;
  std::string key(const Scenario& scenario, std::size_t number, int node) const;
  void disturb(const Scenario& scenario, std::size_t number, const std::vector<int>& pids, Board& board);
  std::optional<int> rival(const Scenario& scenario, std::size_t number) const;
  void kill_somebody(const Launch& launch, const std::vector<int>& pids) const;
  void hang(const Scenario& scenario, std::size_t number, const std::vector<int>& pids) const;
  std::vector<int> engines_of(const std::string& key) const;
  void lose(const Scenario& scenario, int node) const;
  std::vector<FoundState> find_newest(const Scenario& scenario, int rank) const;
  void flip_slot(const Scenario& scenario, std::size_t number, Destroyed& what) const;
  void flip_segment(const Scenario& scenario, std::size_t number, Destroyed& what) const;
  bool forget(const std::string& name) const;

  std::string directory_;
  Faults faults_;
  Lie lie_;
  std::optional<int> rival_told_;  ///< in the last launch, while all ranks lived
  bool refused_ = false;           ///< the last launch could not restore
  std::uint64_t newest_step_ = 0;  ///< the newest step that the last launch captured
};

std::string RealDriver::options(const Scenario& scenario, std::size_t number) const {
  const Launch& launch = scenario.launches[number];
  return options_in(
      directory_, launch.mode,
      "job=" + scenario.job_of(number).owner + ";engine.idle_exit=60;engine.drain_timeout=" +
          (launch.store == "works" ? "60" : "2") + ";checkpoint.timeout=4;checkpoint.lease=2" +
          ";node.ranks_per_node=" + std::to_string(launch.per_node) + ";node.numbers=" + joined_numbers(launch.nodes) +
          ";redundancy.scheme=" + launch.scheme + ";redundancy.parities=" + std::to_string(launch.parities) +
          ";redundancy.group_size=" + std::to_string(launch.group_size) +
          ";redundancy.during_capture=" + launch.during_capture + ";tier.order=" + launch.tiers +
          ";tier.memory.max_bytes=" + std::to_string(launch.memory_kib) + "KiB;tier.file.max_bytes=" +
          std::to_string(launch.file_kib) + "KiB;retention.keep_last=" + std::to_string(launch.keep_last) +
          ";flush.threads=" + std::to_string(launch.flush_threads) +
          ";chunk_bytes=" + std::to_string(launch.chunk_kib) + "KiB" +
          ";checkpoint.replace=" + (launch.replace ? "true" : "false") + ";capture.mode=" + launch.capture);
}

std::string RealDriver::key(const Scenario& scenario, std::size_t number, int node) const {
  config::Config config;
  (void)config.set_all(options(scenario, number), config::Origin::program);
  return engine::node_key(config, os::host_name() + "#" + std::to_string(node));
}

std::string RealDriver::rules(const Scenario& scenario, std::size_t number) const {
  const Launch& launch = scenario.launches[number];
  std::string rules;
  if (launch.store == "full") rules += "pwrite:" + directory_ + "/store:ENOSPC;";
  if (launch.store == "unreadable") rules += "*:" + directory_ + "/store:EIO;";
  // The arena's directory is named by the key and then an engine's number, usually the first.
  if (!launch.refused.empty()) rules += launch.refused + ";";
  if (launch.missing >= 0) rules += "open:" + key(scenario, number, launch.missing) + ".0/arena:EMFILE;";
  return rules;
}

void RealDriver::disturb(const Scenario& scenario, std::size_t number, const std::vector<int>& pids, Board& board) {
  const Launch& launch = scenario.launches[number];
  const auto ranks = static_cast<int>(pids.size());
  const auto somebody_ended = [&] {
    return std::any_of(pids.begin(), pids.end(), [](int pid) { return is_over(pid); });
  };
  for (int i = 0; !launch.at_start && board.running < ranks && i < 8000 && !somebody_ended(); ++i)
    ::usleep(2000);  // wait: the scenario goes on without those that take longer
  if (launch.rival && !somebody_ended()) {
    const auto told = rival(scenario, number);
    if (!somebody_ended()) rival_told_ = told;
  }
  board.rival_pending = false;
  ::usleep(static_cast<useconds_t>(launch.after_ms) * 1000);  // wait: a drawn moment
  if (launch.hung >= 0) hang(scenario, number, pids);
  kill_somebody(launch, pids);
}

// Runs on another node, with its own engine. It writes nothing, so that it may get the name if the other ranks died.
std::optional<int> RealDriver::rival(const Scenario& scenario, std::size_t number) const {
  Scenario its = scenario;
  Launch& launch = its.launches[number];
  launch.nodes = {kRivalsNode};
  launch.ranks = 1;
  launch.per_node = 1;
  launch.mode = "embedded";
  launch.scheme = "single";
  const std::string all = options(its, number);
  const pid_t pid = ::fork();
  if (pid == 0) {
    perdure_t* handle = nullptr;
    auto status = perdure_open(all.c_str(), &handle, nullptr, 0);
    if (handle != nullptr) status = perdure_restore(handle, its.job_of(number).name.c_str(), PERDURE_LATEST);
    ::_exit(static_cast<int>(status));
  }
  int ended = 0;
  if (pid < 0 || ::waitpid(pid, &ended, 0) != pid || !WIFEXITED(ended)) return std::nullopt;
  return WEXITSTATUS(ended);
}

std::vector<int> RealDriver::engines_of(const std::string& key) const {
  std::vector<int> pids;
  for (const int pid : engine_pids(directory_)) {
    const auto line = read_bytes("/proc/" + std::to_string(pid) + "/cmdline");
    if (std::string(line.begin(), line.end()).find(key) != std::string::npos) pids.push_back(pid);
  }
  return pids;
}

// The node does not answer, and nobody says that it is gone, as with a broken network or a machine that swaps.
void RealDriver::hang(const Scenario& scenario, std::size_t number, const std::vector<int>& pids) const {
  const Launch& launch = scenario.launches[number];
  std::vector<int> stopped = engines_of(key(scenario, number, launch.hung));
  for (std::size_t rank = 0; rank < pids.size(); ++rank)
    if (launch.nodes[rank / static_cast<std::size_t>(launch.per_node)] == launch.hung) stopped.push_back(pids[rank]);
  for (const int pid : stopped) ::kill(pid, SIGSTOP);
  ::usleep(static_cast<useconds_t>(launch.hung_ms) * 1000);  // wait: it hangs for a drawn while
  for (const int pid : stopped) ::kill(pid, SIGCONT);
}

void RealDriver::kill_somebody(const Launch& launch, const std::vector<int>& pids) const {
  if (launch.killed == "engines" || launch.killed == "everything") kill_engines(directory_);
  if (launch.killed == "rank") ::kill(pids[static_cast<std::size_t>(launch.victim)], SIGKILL);
  if (launch.killed == "ranks" || launch.killed == "everything")
    for (const int pid : pids) ::kill(pid, SIGKILL);
}

Told RealDriver::launch(const Scenario& scenario, std::size_t number) {
  const Launch& launch = scenario.launches[number];
  SharedMemory<Board> board;
  faults_.set(rules(scenario, number));
  RunOptions run;
  run.ranks = scenario.ranks_of(number);
  run.timeout_s = kLaunchLimit_s;
  run.in_child = [&](int rank) {
    faults_.install();
    ::setenv("FI_OFI_RXM_MSG_RX_SIZE", "16", 1);  // fewer buffers of the provider
    if (rank == launch.victim && !launch.crash.empty()) ::setenv("PERDURE_TEST_CRASH", launch.crash.c_str(), 1);
  };
  board->rival_pending = launch.rival;
  rival_told_.reset();
  if (!launch.killed.empty() || launch.hung >= 0 || launch.rival)
    run.meanwhile = [&](const std::vector<int>& pids) { disturb(scenario, number, pids, *board); };
  const auto begin = std::chrono::steady_clock::now();
  const LifeOptions all{options(scenario, number), lie_ == Lie::element && number > 0};
  const auto outcome = run_ranks(run, [&](const Rank& rank) { return live(rank, all, scenario, number, *board); });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (launch.engines == "killed") kill_engines(directory_);
  if (launch.engines == "stopped") stop_daemons(directory_);
  Told told;
  told.rival = rival_told_;
  told.hung = took.count() >= kLaunchLimit_s;
  told.all_opened = !board->open_failed;
  told.why_not_opened = board->why_not_opened.data();
  told.stopped = !std::all_of(outcome.exit_codes.begin(), outcome.exit_codes.end(),
                              [](int code) { return code == 0 || code == 128 + SIGKILL; });
  refused_ = false;
  for (int rank = 0; rank < run.ranks; ++rank) {
    auto& mine = told.answers.emplace_back();
    for (std::size_t act = 0; act < launch.acts.size(); ++act) {
      const Entry& entry = board->entries[static_cast<std::size_t>(rank)][act];
      mine.push_back({entry.begun, entry.done, entry.status, entry.step, entry.version, entry.right, entry.touched,
                      entry.level, entry.text.data()});
      const bool restore = launch.acts[act] == Act::restore && entry.done;
      refused_ = refused_ || (restore && (entry.status == PERDURE_INCOMPLETE || entry.status == PERDURE_CORRUPT));
      if (entry.done && entry.status == PERDURE_OK && launch.acts[act] != Act::look) newest_step_ = entry.step;
    }
  }
  return told;
}

void RealDriver::lose(const Scenario& scenario, int node) const {
  for (std::size_t number = 0; number < scenario.launches.size(); ++number) {
    for (const int pid : engines_of(key(scenario, number, node))) {
      ::kill(pid, SIGKILL);
      (void)test_support::eventually("an engine that was killed is over", [&] { return is_over(pid); });
    }
    (void)lose_node(directory_, options(scenario, number), node);
  }
}

// For arrays, it searches for the beginnings of the rank's boxes. It may find none if other ranks store this rank's
// elements, too.
std::vector<FoundState> RealDriver::find_newest(const Scenario& scenario, int rank) const {
  const std::size_t wrote = launch_of(newest_step_);
  const int arrays = scenario.job_of(wrote).arrays;
  if (arrays == 0) return find_state(directory_, rank, newest_step_);
  const int ranks = scenario.ranks_of(wrote);
  const int division = division_at(scenario.launches[wrote], newest_step_ % 1000);
  for (const auto& bytes : beginnings(arrays, division, rank % ranks, ranks, newest_step_, kLeastFlipped + 16)) {
    if (bytes.size() <= kLeastFlipped) continue;
    if (auto found = find_bytes(directory_, bytes); !found.empty()) return found;
  }
  return {};
}

void RealDriver::flip_slot(const Scenario& scenario, std::size_t number, Destroyed& what) const {
  const Launch& launch = scenario.launches[number];
  if (newest_step_ == 0) return;
  const auto found = find_newest(scenario, launch.flipped_slot);
  if (found.empty()) return;
  flip_bit(found[0].file, found[0].offset + kLeastFlipped);
  for (std::size_t other = 0; other < scenario.launches.size(); ++other)
    for (const int node : scenario.launches[other].nodes)
      if (found[0].file.string().find(key(scenario, other, node)) != std::string::npos)
        what.slots.emplace_back(node, newest_step_);
}

void RealDriver::flip_segment(const Scenario& scenario, std::size_t number, Destroyed& what) const {
  const auto store = store::make_store(directory_ + "/store");
  if (!store) return;
  const auto listings = (*store)->list(scenario.job_of(number).name);
  if (!listings || listings->empty()) return;
  const auto newest = std::max_element(listings->begin(), listings->end(),
                                       [](const auto& a, const auto& b) { return a.id.version < b.id.version; });
  if (newest->segments.empty()) return;
  const std::string path = directory_ + "/store/" + newest->segments.front().path;
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  if (error || bytes == 0) return;
  flip_bit(path, bytes / 3);
  what.versions_in_store.push_back(static_cast<std::int64_t>(newest->id.version));
}

bool RealDriver::forget(const std::string& name) const {
  const pid_t pid = ::fork();
  if (pid == 0) {
    (void)!std::freopen("/dev/null", "w", stdout);
    (void)!std::freopen("/dev/null", "w", stderr);
    ::execl(PERDURE_PROGRAM, "perdure", "forget", name.c_str(), "--yes", "--store", (directory_ + "/store").c_str(),
            nullptr);
    ::_exit(127);
  }
  int status = 1;
  return pid > 0 && ::waitpid(pid, &status, 0) == pid && status == 0;
}

Destroyed RealDriver::destroy(const Scenario& scenario, std::size_t number) {
  const Launch& launch = scenario.launches[number];
  Destroyed what;
  for (const int node : launch.lost) {
    lose(scenario, node);
    what.nodes.push_back(node);
  }
  if (launch.flipped_slot >= 0) flip_slot(scenario, number, what);
  if (launch.flipped_segment) flip_segment(scenario, number, what);
  if (launch.store_lost) {
    kill_engines(directory_);
    fs::remove_all(directory_ + "/store");
    what.store = true;
  }
  if (launch.forget && refused_) {
    kill_engines(directory_);
    what.forgotten = forget(scenario.job_of(number).name);
  }
  return what;
}

}  // namespace

std::unique_ptr<Driver> real_driver(const std::string& directory, Lie lie) {
  return std::make_unique<RealDriver>(directory, lie);
}

void end_everything_in(const std::string& directory) { kill_engines(directory); }

}  // namespace perdure::campaign
