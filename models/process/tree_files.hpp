#pragma once
// Merges the open files of several processes into one list without duplicates.
#include "process/tree_image.hpp"

namespace perdure::process {

struct TreeFiles {
  OpenFiles files;  ///< each file once; descriptors of all processes, ascending, with repeated numbers
  std::vector<std::vector<std::uint32_t>> of;          ///< by process and its open file: index of files.files
  std::vector<std::vector<bool>> is_first;             ///< by process and its open file: no earlier process has it
  std::vector<std::vector<std::uint32_t>> content_of;  ///< by process and its content: index of files.contents
};

/// Pure. PERDURE_CORRUPT: the images contradict each other.
base::Result<TreeFiles> files_of_tree(const TreeImage& tree);

}  // namespace perdure::process
