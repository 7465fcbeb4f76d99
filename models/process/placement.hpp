#pragma once
// Decides where threads, pages and memory policies of an image go on this machine. Pure. It extends A. Saini,
// Affinity-Aware Checkpoint Restart, 2014, chapters 3 and 4.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "process/image.hpp"

namespace perdure::process {

/// Selects which affinity of a process is restored.
enum class AffinityMode {
  keep,   ///< processor masks of threads, pages and memory policies
  cores,  ///< masks
  pages,  ///< pages and policies
  none,   ///< nothing: threads run where their maker may, and the kernel places pages
  reset   ///< as none, but threads may run everywhere on the machine
};
/// Parses a value of the option `affinity`. Returns nothing if there is no such mode.
std::optional<AffinityMode> affinity_mode(std::string_view text);

struct AffinityChoices {
  AffinityMode mode = AffinityMode::keep;
  bool places_threads() const { return mode == AffinityMode::keep || mode == AffinityMode::cores; }
  bool places_memory() const { return mode == AffinityMode::keep || mode == AffinityMode::pages; }
};

struct Placement {
  std::vector<std::vector<std::uint32_t>> cpus;  ///< for each thread, ascending; empty: wherever its maker may run
  bool of_memory = false;                        ///< whether pages and policies are placed
  /// From node numbers at the capture to present ones. Nodes of unknown topology are missing.
  std::map<std::uint32_t, std::uint32_t> nodes;
  std::vector<std::string> notes;  ///< for people: threads or pages that were apart and now share a place
};

/// On the machine of the capture, or one like it, everything goes where it was. If `here` is unknown, it is assumed to
/// be like that machine.
Placement place(const ProcessImage& image, const MachineImage& here, AffinityChoices choices);
/// Applies the placement to masks and policies of `image`. If none of a policy's nodes exists here, the policy is
/// removed and a note says so.
void apply(Placement& placement, ProcessImage& image);

/// Orders pages: those on nodes where a thread may run come first, the others (orphans) last.
void put_orphans_last(ProcessImage& image);

}  // namespace perdure::process
