#pragma once
// Reads the open files of a process that stands still, with stored content.
#include "process/obstacles.hpp"

namespace perdure::process {

struct DescriptorChoices {
  std::set<int> left_out = {};  ///< --force-without
  bool hash_files = false;      ///< lets a resume detect changed content of regular files
  LookChoices look = {};
  const SeenFiles* seen = nullptr;  ///< for a process of a tree: files seen since it stands still, and settled
};

struct ReadDescriptors {
  OpenFiles files;
  std::vector<std::string> notes;  ///< for people: omissions and assumptions
};

/// All threads of the process must stand still. Takes nothing out of pipes and sockets, and moves no offset.
/// PERDURE_UNSUPPORTED: new obstacles since look_for_obstacles().
base::Result<ReadDescriptors> read_descriptors(pid_t process, const DescriptorChoices& choices = {});

}  // namespace perdure::process
