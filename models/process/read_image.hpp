#pragma once
// The image of a process that stands still, without the bytes of its pages.
#include "process/image.hpp"
#include "process/read_descriptors.hpp"
#include "process/tracee.hpp"

namespace perdure::process {

struct ReadImage {
  ProcessImage image;
  std::vector<std::string> notes;  ///< for people: what was left out, or assumed
  PERDURE_FIELDS(image, notes)
};

/// Before it is seized: PERDURE_UNSUPPORTED with all that stands in the way. What was seen of its files makes
/// read_image() quicker.
base::Result<SeenFiles> look_for_obstacles(pid_t process, const std::set<int>& left_out);
/// PERDURE_UNSUPPORTED: it has what cannot be captured. The process is as before.
base::Result<ReadImage> read_image(Tracee& tracee, const DescriptorChoices& choices = {});

}  // namespace perdure::process
