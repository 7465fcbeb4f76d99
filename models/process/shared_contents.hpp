#pragma once
// A program may write to files by its memory (MAP_SHARED). The times of such a file do not say that it went on, so
// captures and resumes compare its content.
#include <string>
#include <vector>

#include "process/image.hpp"

namespace perdure::process {

/// Hashes of the files' content where `image` shares it and may write, into its mappings: of `most_bytes` at most, and
/// of what lies behind that none. For people, what was not looked at. The process stands still.
std::vector<std::string> add_shared_contents(ProcessImage& image, std::uint64_t most_bytes);
/// For people: files whose content is another one by now.
std::vector<std::string> changed_contents(const ProcessImage& image);

/// More takes too long while it stands still, unless that was asked for.
inline constexpr std::uint64_t kMostSharedBytes = base::GiB;

}  // namespace perdure::process
