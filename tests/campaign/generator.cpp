#include "campaign/generator.hpp"

#include <algorithm>
#include <array>
#include <random>

#include "os/crash_point.hpp"
#include "redundancy/registry.hpp"

namespace perdure::campaign {
namespace {

constexpr unsigned kArrays = 0x5eed'0000, kCaptures = 0xca97'0000;
constexpr int kMostNodes = 5;

class Drawing {
 public:
  explicit Drawing(unsigned seed) : random_(seed), arrays_(seed + kArrays), captures_(seed + kCaptures) {}
  Scenario scenario();
  Scenario elastic();

 private:
  int below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }
  bool once_in(int many) { return below(many) == 0; }
  template <class T>
  T one_of(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(below(static_cast<int>(from.size())))];
  }
  Job job(const Scenario& scenario);
  Launch first_launch(int job, int ranks);
  void draw_scheme(Launch& launch);
  void draw_tiers(Launch& launch);
  void reconfigure(Launch& launch, int ranks);
  void draw_failures(Launch& launch, int ranks);
  void draw_acts(Launch& launch);
  void draw_destruction(Launch& launch, int ranks);
  void replace_nodes(Launch& launch, const std::vector<int>& lost);
  std::string crash_point(const Launch& launch);
  int spare() { return next_node_++; }
  int array_seed() { return 1 + static_cast<int>(arrays_() % 100'000); }
  void draw_division(Launch& launch);
  void draw_capture(Launch& launch);
  void fit_nodes(Launch& launch, int ranks);
  void resize(Launch& launch);
  void next_after(Launch& launch, int ranks);
  void draw_one_failure(Launch& launch, int ranks);
  void draw_few_acts(Launch& launch);

  std::mt19937 random_;
  std::mt19937 arrays_;    // a separate generator, so that jobs without arrays do not depend on arrays
  std::mt19937 captures_;  // a separate generator, so that older seeds keep their meaning
  int next_node_ = 0;
  std::vector<int> away_;  // replaced nodes that still have their data
};

Job Drawing::job(const Scenario& scenario) {
  Job job;
  if (!scenario.jobs.empty()) {
    // Draws another name in the same store, or the same name with another owner.
    const bool same_name = once_in(3);
    job.name = same_name ? scenario.jobs[0].name : "other";
    job.owner = same_name || once_in(2) ? "second" : scenario.jobs[0].owner;
  }
  return job;
}

void Drawing::draw_scheme(Launch& launch) {
  const auto nodes = static_cast<unsigned>(launch.nodes.size());
  launch.scheme = one_of<std::string>({"single", "partner", "buddy", "xor", "xor", "reed-solomon", "reed-solomon"});
  launch.parities = 1 + below(2);
  const auto& scheme = **redundancy::find_scheme(launch.scheme);
  const auto limits =
      redundancy::group_limits(scheme, redundancy::parities(scheme, static_cast<unsigned>(launch.parities)));
  const unsigned least = limits ? limits->min_size : 2;
  if (nodes < least || nodes < 2) launch.scheme = "single";
  if (launch.scheme != "single")
    launch.group_size = static_cast<int>(least) + below(static_cast<int>(nodes - least) + 1);
}

void Drawing::draw_tiers(Launch& launch) {
  launch.tiers = one_of<std::string>({"memory,file", "memory,file", "file,memory", "memory", "file"});
  launch.memory_kib = launch.file_kib = 65536;
  if (!once_in(4)) return;
  launch.memory_kib = one_of<int>({4096, 8192, 16384});
  launch.file_kib = one_of<int>({256, 1024, 4096});
}

Launch Drawing::first_launch(int job, int nodes) {
  Launch launch;
  launch.job = job;
  launch.nodes.clear();
  for (int i = 0; i < nodes; ++i) launch.nodes.push_back(spare());
  launch.per_node = 1 + (once_in(3) ? 1 : 0);
  launch.mode = once_in(3) ? "daemon" : "embedded";
  launch.keep_last = 2 + below(3);
  launch.during_capture = one_of<std::string>({"auto", "always", "never"});
  draw_tiers(launch);
  draw_scheme(launch);
  return launch;
}

/// Makes the number of nodes fit the ranks: removed nodes go away, added ones are new.
void Drawing::fit_nodes(Launch& launch, int ranks) {
  const auto wanted = static_cast<std::size_t>((ranks + launch.per_node - 1) / launch.per_node);
  while (launch.nodes.size() > wanted) {
    away_.push_back(launch.nodes.back());
    launch.nodes.pop_back();
  }
  while (launch.nodes.size() < wanted) launch.nodes.push_back(spare());
}

void Drawing::draw_division(Launch& launch) {
  launch.division = once_in(4) ? 0 : 1 + below(100'000);
  launch.moves = once_in(4);
  if (once_in(6)) launch.chunk_kib = one_of<int>({64, 128, 256});
}

void Drawing::draw_capture(Launch& launch) {
  static constexpr std::array kModes = {"copy", "copy", "cow", "cow", "auto"};
  launch.capture = kModes[captures_() % kModes.size()];
}

/// Draws another number of ranks, usually small, on nodes of which some are old ones, perhaps in another order.
void Drawing::resize(Launch& launch) {
  launch.ranks = 1 + below(once_in(8) ? 16 : once_in(2) ? 8 : 4);
  launch.per_node = std::max((launch.ranks + kMostNodes - 1) / kMostNodes, 1 + below(4));
  if (once_in(3)) std::shuffle(launch.nodes.begin(), launch.nodes.end(), random_);
  fit_nodes(launch, launch.ranks);
  // With unchanged options, the launch may have too few nodes for the scheme.
  if (!once_in(3)) draw_scheme(launch);
}

/// Acts as a user who changes settings between two launches.
void Drawing::reconfigure(Launch& launch, int ranks) {
  if (once_in(4)) launch.mode = launch.mode == "daemon" ? "embedded" : "daemon";
  if (once_in(4)) draw_tiers(launch);
  if (once_in(5)) launch.flush_threads = 1 + below(3);
  if (once_in(5)) launch.replace = !launch.replace;
  if (once_in(6)) launch.keep_last = 2 + below(3);
  if (once_in(6)) {
    launch.per_node = launch.per_node == 1 || ranks > 8 ? 2 : 1;
    fit_nodes(launch, ranks);
    draw_scheme(launch);
  }
  if (once_in(6)) draw_scheme(launch);
  if (once_in(8)) std::shuffle(launch.nodes.begin(), launch.nodes.end(), random_);
}

std::string Drawing::crash_point(const Launch& launch) {
  for (;;) {
    const auto& point = os::kCrashPoints[static_cast<std::size_t>(below(static_cast<int>(os::kCrashPoints.size())))];
    if (point.role == "redundancy" && launch.scheme == "single") continue;
    return std::string(point.name) + ":" + std::to_string(1 + below(3));
  }
}

void Drawing::draw_failures(Launch& launch, int ranks) {
  launch.store = one_of<std::string>({"works", "works", "works", "full", "full", "full", "full", "unreadable"});
  launch.victim = below(ranks);
  const int kind = below(8);
  if (kind < 2) launch.crash = crash_point(launch);
  if (kind == 2 || kind == 3) {
    launch.killed = one_of<std::string>({"rank", "ranks", "engines", "everything"});
    if (launch.killed == "engines" && launch.mode == "embedded") launch.killed = "everything";
    launch.after_ms = below(120);
    launch.at_start = once_in(4);
  }
  if (once_in(8) && launch.tiers.find("memory") != std::string::npos) launch.missing = one_of(launch.nodes);
  if (kind == 4 && once_in(2)) {
    launch.hung = one_of(launch.nodes);
    launch.hung_ms = one_of<int>({100, 1000, 7000});  // longer than peers wait for a sign of life
    launch.after_ms = below(120);
  }
  launch.rival = kind == 6 || (kind == 2 && !launch.at_start && launch.victim % 2 == 0);
  if (kind == 5 && once_in(2))
    launch.refused =
        one_of<std::string>({"thread::EAGAIN", "thread_body::ENOMEM", "pwrite:/:BAD_ALLOC", "pread:/:BAD_ALLOC",
                             "open:/:BAD_ALLOC", "rename:/:BAD_ALLOC", "fsync:/:BAD_ALLOC"}) +
        ":" + std::to_string(1 + below(12)) + ":1";
}

void Drawing::draw_acts(Launch& launch) {
  launch.acts.clear();
  if (once_in(5)) launch.acts.push_back(Act::look);
  launch.acts.push_back(Act::restore);
  for (int left = 1 + below(6); left > 0; --left) {
    const int what = below(12);
    if (what < 6) launch.acts.push_back(Act::checkpoint);
    if (what >= 6 && what < 9 && launch.scheme != "single") launch.acts.push_back(Act::node);
    if (what == 9 && launch.store == "works") launch.acts.push_back(Act::store);
    if (what == 10) {
      launch.acts.push_back(Act::back);
      launch.acts.push_back(Act::checkpoint);
    }
    if (what == 11) {
      launch.acts.push_back(launch.replace ? Act::rewrite : Act::checkpoint);
      if (launch.scheme != "single") launch.acts.push_back(Act::node);
    }
  }
  if (once_in(4)) launch.acts.push_back(Act::close);
}

void Drawing::draw_destruction(Launch& launch, int ranks) {
  launch.engines = "killed";
  if (launch.mode == "daemon" && once_in(3)) launch.engines = "left";
  if (launch.mode == "daemon" && launch.store == "works" && once_in(2)) launch.engines = "stopped";
  for (int left = once_in(2) ? 1 + below(2) : 0; left > 0; --left) {
    const int node = one_of(launch.nodes);
    if (std::find(launch.lost.begin(), launch.lost.end(), node) == launch.lost.end()) launch.lost.push_back(node);
  }
  if (once_in(14)) launch.lost = launch.nodes;
  if (once_in(8)) launch.flipped_slot = below(ranks);
  launch.flipped_segment = once_in(10);
  launch.store_lost = once_in(14);
  launch.forget = once_in(2);
}

/// Chooses where the job continues: on the same nodes, empty or not, on spares, or on a node that was replaced before.
void Drawing::replace_nodes(Launch& launch, const std::vector<int>& lost) {
  const bool with_spares = once_in(2);
  for (int& node : launch.nodes) {
    const bool was_lost = std::find(lost.begin(), lost.end(), node) != lost.end();
    if (!(was_lost && with_spares) && !once_in(12)) continue;
    if (!was_lost) away_.push_back(node);
    const bool one_comes_back = away_.size() > 1 && once_in(2);
    node = one_comes_back ? away_.front() : spare();
    if (one_comes_back) away_.erase(away_.begin());
  }
  for (int& node : launch.nodes)
    if (!away_.empty() && once_in(6)) std::swap(node, away_.front());
}

Scenario Drawing::scenario() {
  Scenario scenario;
  const int jobs = once_in(3) ? 2 : 1;
  std::vector<Launch> last;
  for (int i = 0; i < jobs; ++i) {
    last.push_back(first_launch(i, once_in(6) ? 1 : 2 + below(3)));
    Job drawn = job(scenario);
    drawn.ranks = static_cast<int>(last.back().nodes.size()) * last.back().per_node;
    if (arrays_() % 2 == 0) drawn.arrays = array_seed();
    if (drawn.arrays != 0) draw_division(last.back());
    drawn.small = captures_() % 3 == 0 && drawn.arrays == 0;
    scenario.jobs.push_back(drawn);
  }
  for (int left = 2 + below(4); left > 0; --left) {
    const int job = below(jobs);
    Launch& launch = last[static_cast<std::size_t>(job)];
    const int ranks = scenario.ranks_of(launch);
    draw_failures(launch, ranks);
    draw_acts(launch);
    draw_destruction(launch, ranks);
    draw_capture(launch);
    scenario.launches.push_back(launch);
    next_after(launch, ranks);
    if (scenario.jobs[static_cast<std::size_t>(job)].arrays == 0) continue;
    if (once_in(2)) resize(launch);
    draw_division(launch);
  }
  return scenario;
}

void clear_failures(Launch& launch) {
  const Launch plain;
  launch.lost.clear();
  launch.crash.clear();
  launch.victim = 0;
  launch.killed.clear();
  launch.after_ms = 0;
  launch.at_start = false;
  launch.missing = plain.missing;
  launch.hung = plain.hung;
  launch.rival = plain.rival;
  launch.refused.clear();
  launch.flipped_slot = plain.flipped_slot;
  launch.flipped_segment = plain.flipped_segment;
}

/// Starts the job's next launch from the state at the end of this one.
void Drawing::next_after(Launch& launch, int ranks) {
  const auto lost = launch.lost;
  clear_failures(launch);
  replace_nodes(launch, lost);
  reconfigure(launch, ranks);
}

void Drawing::draw_one_failure(Launch& launch, int ranks) {
  launch.victim = below(ranks);
  switch (below(9)) {
    case 0:
    case 1:
    case 2:
      launch.lost = {one_of(launch.nodes)};
      break;
    case 3:
      launch.crash = crash_point(launch);
      break;
    case 4:
      launch.killed = one_of<std::string>({"rank", "ranks", "engines", "everything"});
      launch.after_ms = below(120);
      break;
    case 5:
      launch.flipped_slot = below(ranks);
      break;
    case 6:
      launch.flipped_segment = true;
      break;
    case 7:
      launch.lost = launch.nodes;
      break;
    default:
      launch.hung = one_of(launch.nodes);
      launch.hung_ms = one_of<int>({100, 1000});
  }
}

void Drawing::draw_few_acts(Launch& launch) {
  launch.acts = {Act::restore};
  // The program asks about a version that other ranks wrote.
  if (launch.scheme != "single" && once_in(4)) launch.acts.push_back(Act::node);
  if (launch.store == "works" && once_in(6)) launch.acts.push_back(Act::store);
  for (int left = below(4); left > 0; --left) {
    launch.acts.push_back(Act::checkpoint);
    if (launch.scheme != "single" && once_in(2)) launch.acts.push_back(Act::node);
    if (launch.store == "works" && once_in(4)) launch.acts.push_back(Act::store);
    if (once_in(6)) launch.acts.push_back(Act::back);
  }
  if (once_in(3)) launch.acts.push_back(Act::close);
}

Scenario Drawing::elastic() {
  Scenario scenario;
  Launch launch = first_launch(0, 1);
  launch.memory_kib = launch.file_kib = 65536;
  resize(launch);
  draw_scheme(launch);
  scenario.jobs.push_back(Job{});
  scenario.jobs[0].ranks = launch.ranks;
  scenario.jobs[0].arrays = array_seed();
  const std::string store = once_in(3) ? "full" : "works";
  const int launches = 2 + below(3);
  const int failing = once_in(3) ? launches : below(launches - 1);
  for (int number = 0; number < launches; ++number) {
    draw_division(launch);
    launch.store = store;
    // Without network and store, nodes wait half a minute for each other at each choice (docs/developing.md).
    for (int tries = 0; store == "full" && launch.scheme == "single" && launch.nodes.size() > 1 && tries < 4; ++tries)
      draw_scheme(launch);
    draw_few_acts(launch);
    draw_capture(launch);
    launch.engines = launch.mode == "daemon" && once_in(2) ? "left" : "killed";
    if (number == failing) draw_one_failure(launch, launch.ranks);
    scenario.launches.push_back(launch);
    clear_failures(launch);
    if (!once_in(5)) resize(launch);
  }
  return scenario;
}

}  // namespace

Scenario draw_scenario(unsigned seed) { return Drawing(seed).scenario(); }
Scenario draw_elastic(unsigned seed) { return Drawing(seed).elastic(); }

}  // namespace perdure::campaign
