#pragma once
// Compares content of files that a program writes through shared mappings (MAP_SHARED). The timestamps of such a file
// do not show these writes.
#include <string>
#include <vector>

#include "process/image.hpp"

namespace perdure::process {

/// Hashes writable shared file mappings of `image`, up to `most_bytes` in all, and stores the hashes in the mappings.
/// Returns notes for people about files that it skipped. The process must stand still.
std::vector<std::string> add_shared_contents(ProcessImage& image, std::uint64_t most_bytes);
/// Returns notes for people about files whose content has changed.
std::vector<std::string> changed_contents(const ProcessImage& image);

/// The default limit: hashing more would stop the process for too long.
inline constexpr std::uint64_t kMostSharedBytes = base::GiB;

}  // namespace perdure::process
