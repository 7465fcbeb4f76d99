#pragma once
// Reads the image of a process that stands still, without the bytes of its pages.
#include <map>

#include "process/image.hpp"
#include "process/page_scan.hpp"
#include "process/read_descriptors.hpp"
#include "process/tracee.hpp"

namespace perdure::process {

struct ReadImage {
  ProcessImage image;
  std::vector<std::string> notes;  ///< for people: omissions and assumptions
  PERDURE_FIELDS(image, notes)
};

/// Flags of mappings. Reading them takes some 14 ms per GiB of the process, because the kernel counts all pages.
struct SeenFlags {
  std::string maps;  ///< the text of /proc/PID/maps
  std::map<std::uint64_t, std::vector<std::string>> flags;
  /// Returns whether a mapping that both have, equal except for flags, has other flags.
  bool contradicts(const SeenFlags& later) const;
};
SeenFlags look_at_flags(pid_t process);

/// Call it before the process is seized. Returns the seen files, which make read_image() faster. `inside`: other
/// processes that are no obstacle. PERDURE_UNSUPPORTED: lists all obstacles.
base::Result<SeenFiles> look_for_obstacles(pid_t process, const std::set<int>& left_out,
                                           const std::set<pid_t>& inside = {});
/// Facts that the caller already knows, and what it wants.
struct KnownOfMemory {
  const SeenFlags* flags = nullptr;      ///< seen a moment ago; used for mappings that have not changed
  const FollowedPages* pages = nullptr;  ///< since it stands still
  std::size_t most_runs = 500'000;       ///< of pages; a reader accepts some four million items in a record
  bool places = true;                    ///< false: does not record nodes of pages, and the machine
};
/// Leaves the process as it was. PERDURE_UNSUPPORTED: it has state that cannot be captured.
base::Result<ReadImage> read_image(Tracee& tracee, const DescriptorChoices& choices = {},
                                   const KnownOfMemory& known = {});

}  // namespace perdure::process
