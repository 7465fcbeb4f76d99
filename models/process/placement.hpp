#pragma once
// Where threads, pages and policies of memory of an image go on this machine. Pure. (Goes on from A. Saini,
// Affinity-Aware Checkpoint Restart, 2014, chapters 3 and 4.)
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "process/image.hpp"

namespace perdure::process {

/// What comes back of where a process was.
enum class AffinityMode {
  keep,   ///< masks of threads, pages and policies of memory
  cores,  ///< masks
  pages,  ///< pages and policies
  none,   ///< nothing: threads run where their maker may, and pages are wherever the kernel puts them
  reset   ///< as none, but threads may run everywhere on the machine
};
/// As the option `affinity` has it; nothing: there is no such mode.
std::optional<AffinityMode> affinity_mode(std::string_view text);

struct AffinityChoices {
  AffinityMode mode = AffinityMode::keep;
  bool places_threads() const { return mode == AffinityMode::keep || mode == AffinityMode::cores; }
  bool places_memory() const { return mode == AffinityMode::keep || mode == AffinityMode::pages; }
};

struct Placement {
  std::vector<std::vector<std::uint32_t>> cpus;  ///< of each thread, ascending; empty: where its maker may run
  bool of_memory = false;                        ///< pages and policies have places
  /// By number of then; one that is not here: it was not known what it is.
  std::map<std::uint32_t, std::uint32_t> nodes;
  std::vector<std::string> notes;  ///< for people: what was apart and is not any more
};

/// On the machine that it was captured on, and on one like it, everything is where it was. `here` may be unknown: then
/// it is taken to be like that.
Placement place(const ProcessImage& image, const MachineImage& here, AffinityChoices choices);
/// Masks and policies of `image` become those of the placement. A policy all of whose nodes are nowhere is none any
/// more, and a note says so.
void apply(Placement& placement, ProcessImage& image);

/// Pages of nodes where a thread may run come first, those of the others (orphans) last.
void put_orphans_last(ProcessImage& image);

}  // namespace perdure::process
