#pragma once
// Open files of several processes, some of which several of them have: as one list, and which of them each one means.
#include "process/tree_image.hpp"

namespace perdure::process {

struct TreeFiles {
  OpenFiles files;                             ///< each once; descriptors are those of all, ascending, some twice
  std::vector<std::vector<std::uint32_t>> of;  ///< by process, by its open file: index of files.files
  std::vector<std::vector<bool>> is_first;     ///< likewise: no process before it has it
  std::vector<std::vector<std::uint32_t>> content_of;  ///< by process, by its content: index of files.contents
};

/// Pure. PERDURE_CORRUPT: they do not fit together.
base::Result<TreeFiles> files_of_tree(const TreeImage& tree);

}  // namespace perdure::process
