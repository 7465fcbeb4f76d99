#pragma once
// Describes a campaign's scenario as data: jobs that share a store, their launches, and the failures during and after
// each. The text form has one line per job and launch, which names the differences from the plainest one.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace perdure::campaign {

/// The acts that all ranks of a launch do together.
enum class Act {
  restore,     ///< restores the latest version
  back,        ///< restores an older version, by number
  checkpoint,  ///< makes the next version
  rewrite,     ///< writes the program's version once more (with checkpoint.replace)
  node,        ///< waits for level node
  store,       ///< waits for level store
  look,        ///< asks which version is the latest
  close,       ///< the orderly end; only the last act of a launch may be this
};

/// Perdure must keep apart two jobs with the same `name` and different `owner` (option `job`).
struct Job {
  std::string name = "app", owner = "default";
  int ranks = 1;
  int arrays = 0;      ///< the state is arrays, which follow from this number; 0: regions of each rank's own
  bool small = false;  ///< the arrays are so small that ranks stage before they agree
  friend bool operator==(const Job&, const Job&) = default;
};

struct Launch {
  int job = 0;
  std::vector<int> nodes{0};  ///< simulated nodes by number: `per_node` ranks on each
  int per_node = 1;
  int ranks = 0;       ///< differs from the job's number, which needs arrays; 0: the job's
  int division = 0;    ///< the division of arrays follows from this number; 0: even blocks
  bool moves = false;  ///< the division changes before each checkpoint and restore
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
  std::string capture = "copy";  ///< other values: the ranks overwrite all memory before it is copied
  // Failures while it runs
  std::string store = "works";  ///< or "full", or "unreadable"
  int missing = -1;             ///< a node whose memory tier cannot be opened
  std::string crash;            ///< the crash point at which rank `victim`, or its engine, dies: POINT:HIT
  int victim = 0;
  std::string killed;            ///< at a random time: "rank", "ranks", "engines", "everything"
  int after_ms = 0;              ///< so many ms after its ranks have restored,
  bool at_start = false;         ///< or after they were started
  int hung = -1, hung_ms = 500;  ///< the node whose processes stop for a while once the ranks have restored
  bool rival = false;   ///< a program of the same job asks for the name's latest version once the ranks have restored
  std::string refused;  ///< threads or memory that every process is refused once: a rule of PERDURE_TEST_FAULTS
  // Acts
  std::vector<Act> acts{Act::restore, Act::checkpoint};
  // Events after its end
  std::string engines = "killed";  ///< or "left", or "stopped"
  std::vector<int> lost;           ///< nodes, with all their data
  int flipped_slot = -1;           ///< flips a bit of this rank's newest state, in one slot
  bool flipped_segment = false;    ///< flips a bit of a segment of the newest version in the store
  bool store_lost = false;         ///< with all its data
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

/// The fields by name, as text, in order. Fields that equal those of the plainest launch can be left out.
using Fields = std::vector<std::pair<std::string, std::string>>;
Fields fields_of(const Job& job);
Fields fields_of(const Launch& launch);
base::Status set_field(Job& job, const std::string& name, const std::string& text);
base::Status set_field(Launch& launch, const std::string& name, const std::string& text);

std::string text_of(const Scenario& scenario);
/// Error: PERDURE_INVALID_ARGUMENT if the text is no scenario, or cannot be carried out.
base::Result<Scenario> scenario_from(const std::string& text);
/// Checks that nodes have room for the ranks, and that jobs and victims exist.
bool can_be_carried_out(const Scenario& scenario);

/// Whether its tiers have room for all that the launch may capture.
bool has_room(const Launch& launch);

/// Whether nothing fails and there is room for everything, so that every call must succeed.
bool is_undisturbed(const Launch& launch);

const char* name_of(Act act);
/// Returns the number of the state that a rank captures at its `act`-th act of the launch; it is unique.
inline std::uint64_t step_of(std::size_t launch, std::size_t act) { return (launch + 1) * 1000 + act; }
inline std::size_t launch_of(std::uint64_t step) { return static_cast<std::size_t>(step / 1000 - 1); }

}  // namespace perdure::campaign
