#pragma once
// The open files of a process that stands still, with what is carried along.
#include "process/obstacles.hpp"

namespace perdure::process {

struct DescriptorChoices {
  std::set<int> left_out = {};  ///< --force-without
  bool hash_files = false;      ///< so that a resume can tell whether content of regular files changed
  LookChoices look = {};
  const SeenFiles* seen = nullptr;  ///< of one that is captured with others: looked at since it stands still, settled
};

struct ReadDescriptors {
  OpenFiles files;
  std::vector<std::string> notes;  ///< for people: what was left out, or assumed
};

/// While all threads of the process stand still. Takes nothing from pipes and sockets, and moves no offset.
/// PERDURE_UNSUPPORTED: obstacles that were not there when they were looked for.
base::Result<ReadDescriptors> read_descriptors(pid_t process, const DescriptorChoices& choices = {});

}  // namespace perdure::process
