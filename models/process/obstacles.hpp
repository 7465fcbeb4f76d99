#pragma once
// Finds obstacles to a capture: a pure function of facts about a process, which was not touched for them.
#include <set>
#include <string>
#include <vector>

#include "process/facts.hpp"
#include "process/memory_maps.hpp"
#include "process/read_state.hpp"
#include "process/seen_files.hpp"

namespace perdure::process {

struct Obstacle {
  std::string what;    ///< "descriptor 7, a TCP socket"
  std::string why;     ///< "the other machine would not know of it"
  std::string remedy;  ///< an action for the user
  std::string drop;    ///< "fd:7": the argument for --force-without; empty: it cannot be left out
  friend bool operator==(const Obstacle&, const Obstacle&) = default;
};

/// Makes files with a descriptor in `left_out` LeftOut, with all their descriptors. Pipes and Unix sockets to other
/// processes become Inherited if they are one of the first three descriptors.
void settle(SeenFiles& files, const std::set<int>& left_out);

/// `files`: after settle(). Returns obstacles in the order of the descriptors.
std::vector<Obstacle> obstacles_of_files(const SeenFiles& files);
std::vector<Obstacle> obstacles_of_maps(const std::vector<MemoryMap>& maps, const SeenFiles& files);
/// `inside`: other processes that are captured with it.
std::vector<Obstacle> obstacles_of_facts(const ProcessFacts& facts, const std::set<pid_t>& inside = {});
/// Obstacles that only a process that stands still shows.
std::vector<Obstacle> obstacles_of_state(const LostState& state);
/// All of the above, except those of the state.
std::vector<Obstacle> obstacles(const ProcessFacts& facts, const std::vector<MemoryMap>& maps, const SeenFiles& files,
                                const std::set<pid_t>& inside = {});

/// A running process constantly opens and closes things. So only those obstacles count that each of this many looks
/// finds. The pause between looks grows by one millisecond each time.
inline constexpr int kLooks = 12;

/// Returns one error that names all obstacles and says what is refused; success if there are none.
base::Status refused(pid_t process, const std::vector<Obstacle>& obstacles, const char* what = "captured");

}  // namespace perdure::process
