#pragma once
// What stands in the way of a capture: a pure function of what was seen of a process, which was not touched for it.
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
  std::string remedy;  ///< what a user can do
  std::string drop;    ///< "fd:7": what --force-without can leave out; empty: nothing can be
  friend bool operator==(const Obstacle&, const Obstacle&) = default;
};

/// Files that have a descriptor of `left_out` become LeftOut, with all their descriptors; pipes and Unix sockets that
/// lead to other processes by one of the first three descriptors become Inherited.
void settle(SeenFiles& files, const std::set<int>& left_out);

/// Of `files` after settle(). In the order of the descriptors.
std::vector<Obstacle> obstacles_of_files(const SeenFiles& files);
std::vector<Obstacle> obstacles_of_maps(const std::vector<MemoryMap>& maps, const SeenFiles& files);
/// `inside`: other processes that are captured with it.
std::vector<Obstacle> obstacles_of_facts(const ProcessFacts& facts, const std::set<pid_t>& inside = {});
/// Those that only a process that stands still shows.
std::vector<Obstacle> obstacles_of_state(const LostState& state);
/// All of them, but for those of the state.
std::vector<Obstacle> obstacles(const ProcessFacts& facts, const std::vector<MemoryMap>& maps, const SeenFiles& files,
                                const std::set<pid_t>& inside = {});

/// Processes that run make and close what else of them is looked at a moment before or after: what stands in the way is
/// what is there at each of so many looks, with a pause of one more millisecond between them each time.
inline constexpr int kLooks = 12;

/// One error that names them all, and what it cannot be; success when there are none.
base::Status refused(pid_t process, const std::vector<Obstacle>& obstacles, const char* what = "captured");

}  // namespace perdure::process
