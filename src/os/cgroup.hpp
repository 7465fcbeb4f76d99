#pragma once
// Reads the memory limits that control groups (version 1 and 2) put on this process. Private to os/ and its tests.
#include <cstdint>
#include <string>

namespace perdure::os {

struct MemoryLimit {
  std::uint64_t limit_bytes = UINT64_MAX;      ///< the lowest limit of our group and all above it
  std::uint64_t available_bytes = UINT64_MAX;  ///< the least that one of them leaves; droppable cache counts as free
};

/// `membership` is the content of /proc/self/cgroup, `root` "/sys/fs/cgroup". Unreadable groups limit nothing.
MemoryLimit cgroup_memory(const std::string& membership, const std::string& root);

}  // namespace perdure::os
