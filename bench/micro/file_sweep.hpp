#pragma once
// Implements the measurement that pario and sario share: layouts, initial states, numbers of writers, and sizes of
// files.
#include "file_pattern.hpp"
#include "run.hpp"

namespace perdure::micro {

enum class Layout {
  task_local,  ///< one file per rank: pario
  aggregated   ///< one file per node, with an aligned region for each of its ranks: sario
};

struct FileSweep {
  Options common;
  std::vector<Layout> layouts;  ///< measured alternately, within the same repetition
  std::vector<std::string> modes{"new", "existing", "deleted"};
  std::vector<int> writers;  ///< numbers of ranks that write
  int ranks_per_node = 0;    ///< on a simulated node
  std::uint64_t block_bytes = 1U << 20, alignment_bytes = 4096;
  bool sync = false;
};

/// Measures everything, in `directory`. [collective]
base::Status measure(const FileSweep& sweep, const World& world, const std::string& directory, Results& results);

}  // namespace perdure::micro
