#pragma once
// The image of a process that stands still, without the bytes of its pages.
#include <map>

#include "process/image.hpp"
#include "process/page_scan.hpp"
#include "process/read_descriptors.hpp"
#include "process/tracee.hpp"

namespace perdure::process {

struct ReadImage {
  ProcessImage image;
  std::vector<std::string> notes;  ///< for people: what was left out, or assumed
  PERDURE_FIELDS(image, notes)
};

/// Flags of mappings. To read them takes the kernel some 14 ms for each GiB that a process has, because it counts all
/// pages then.
struct SeenFlags {
  std::string maps;  ///< as /proc/PID/maps was
  std::map<std::uint64_t, std::vector<std::string>> flags;
  /// Of mappings that both have, alike in all but flags.
  bool contradicts(const SeenFlags& later) const;
};
SeenFlags look_at_flags(pid_t process);

/// Before it is seized: PERDURE_UNSUPPORTED with all that stands in the way. What was seen of its files makes
/// read_image() quicker. `inside`: other processes that are in nobody's way.
base::Result<SeenFiles> look_for_obstacles(pid_t process, const std::set<int>& left_out,
                                           const std::set<pid_t>& inside = {});
/// What somebody else has found out, and what is wanted.
struct KnownOfMemory {
  const SeenFlags* flags = nullptr;      ///< a moment ago: taken unless its mappings are others now
  const FollowedPages* pages = nullptr;  ///< since it stands still
  std::size_t most_runs = 500'000;       ///< of pages: a reader's limit on the items of a record is some four million
  bool places = true;                    ///< false: nodes of pages, and the machine, are not recorded
};
/// PERDURE_UNSUPPORTED: it has what cannot be captured. The process is as before.
base::Result<ReadImage> read_image(Tracee& tracee, const DescriptorChoices& choices = {},
                                   const KnownOfMemory& known = {});

}  // namespace perdure::process
