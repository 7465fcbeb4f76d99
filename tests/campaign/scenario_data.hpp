#pragma once
// A campaign's scenario as data: jobs that share a store, and launch after launch of them, with what fails in each and
// after it. As text it has a line for each job and launch, which names what differs from the plainest one.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace perdure::campaign {

/// What all ranks of a launch do together.
enum class Act {
  restore,     ///< the latest version
  back,        ///< an older version, by number
  checkpoint,  ///< the next version
  rewrite,     ///< the version that the program has, once more (with checkpoint.replace)
  node,        ///< waits for level node
  store,       ///< waits for level store
  look,        ///< asks which version is the latest
  close,       ///< the orderly end; a launch has at most this one, at its end
};

/// Two with the same `name` and another `owner` (option `job`) must be kept apart.
struct Job {
  std::string name = "app", owner = "default";
  int ranks = 1;
  int arrays = 0;      ///< its state is arrays, which follow from this number; 0: regions of each rank's own
  bool small = false;  ///< those are so small that ranks stage before they agree
  friend bool operator==(const Job&, const Job&) = default;
};

struct Launch {
  int job = 0;
  std::vector<int> nodes{0};  ///< simulated nodes by number: `per_node` ranks on each of them
  int per_node = 1;
  int ranks = 0;       ///< another number than the job has, which needs arrays; 0: as many
  int division = 0;    ///< how arrays are divided follows from this number; 0: even blocks
  bool moves = false;  ///< and in another way before each checkpoint and restore
  // Configuration
  std::string mode = "embedded";
  std::string scheme = "single";
  int parities = 2, group_size = 8;
  std::string tiers = "memory,file";
  int memory_kib = 65536, file_kib = 65536;
  int keep_last = 2, flush_threads = 2;
  int chunk_kib = 128;
  bool replace = false;
  std::string during_capture = "auto";
  std::string capture = "copy";  ///< other ones: the ranks write to all of it before it is copied
  // What fails while it runs
  std::string store = "works";  ///< or "full", or "unreadable"
  int missing = -1;             ///< the node whose memory tier cannot be opened
  std::string crash;            ///< the point at which rank `victim`, or its engine, dies: POINT:HIT
  int victim = 0;
  std::string killed;            ///< at a random time: "rank", "ranks", "engines", "everything"
  int after_ms = 0;              ///< so much later than its ranks have restored,
  bool at_start = false;         ///< or than they were started
  int hung = -1, hung_ms = 500;  ///< the node whose processes stop for a while once the ranks have restored
  bool rival = false;   ///< a program of the same job asks for the name's latest version once the ranks have restored
  std::string refused;  ///< threads or memory that every process is refused once: a rule of PERDURE_TEST_FAULTS
  // What it does
  std::vector<Act> acts{Act::restore, Act::checkpoint};
  // What happens when it has ended
  std::string engines = "killed";  ///< or "left", or "stopped"
  std::vector<int> lost;           ///< nodes, with all they had
  int flipped_slot = -1;           ///< a bit of this rank's newest state, in one slot
  bool flipped_segment = false;    ///< a bit of a segment of the newest version in the store
  bool store_lost = false;         ///< with all it had
  bool forget = false;             ///< `perdure forget NAME`, if the launch could not restore
  friend bool operator==(const Launch&, const Launch&) = default;
};

struct Scenario {
  std::vector<Job> jobs;
  std::vector<Launch> launches;
  const Job& job_of(std::size_t launch) const { return jobs[static_cast<std::size_t>(launches[launch].job)]; }
  int ranks_of(const Launch& launch) const {
    return launch.ranks > 0 ? launch.ranks : jobs[static_cast<std::size_t>(launch.job)].ranks;
  }
  int ranks_of(std::size_t launch) const { return ranks_of(launches[launch]); }
  friend bool operator==(const Scenario&, const Scenario&) = default;
};

/// The fields by name, as text, in their order. Those that are as in the plainest one can be left out.
using Fields = std::vector<std::pair<std::string, std::string>>;
Fields fields_of(const Job& job);
Fields fields_of(const Launch& launch);
base::Status set_field(Job& job, const std::string& name, const std::string& text);
base::Status set_field(Launch& launch, const std::string& name, const std::string& text);

std::string text_of(const Scenario& scenario);
/// Error: PERDURE_INVALID_ARGUMENT for what is no scenario, or cannot be carried out.
base::Result<Scenario> scenario_from(const std::string& text);
/// Nodes have room for the ranks, jobs and victims are there.
bool can_be_carried_out(const Scenario& scenario);

/// In its tiers, for all that it may capture.
bool has_room(const Launch& launch);

/// Nothing fails, and there is room for everything: then every call succeeds.
bool is_undisturbed(const Launch& launch);

const char* name_of(Act act);
/// What the rank's state is called that it captures at its `act`-th act of the launch: different everywhere.
inline std::uint64_t step_of(std::size_t launch, std::size_t act) { return (launch + 1) * 1000 + act; }
inline std::size_t launch_of(std::uint64_t step) { return static_cast<std::size_t>(step / 1000 - 1); }

}  // namespace perdure::campaign
