#pragma once
// The measurement that pario and sario share: layouts of files, what is there before, numbers of writers, sizes.
#include "file_pattern.hpp"
#include "run.hpp"

namespace perdure::micro {

enum class Layout {
  task_local,  ///< one file a rank: pario
  aggregated   ///< one file a node, an aligned region for each of its ranks: sario
};

struct FileSweep {
  Options common;
  std::vector<Layout> layouts;  ///< measured in turn, within the same repetition
  std::vector<std::string> modes{"new", "existing", "deleted"};
  std::vector<int> writers;  ///< numbers of ranks that write
  int ranks_per_node = 0;    ///< of a simulated node
  std::uint64_t block_bytes = 1U << 20, alignment_bytes = 4096;
  bool sync = false;
};

/// All of it, in `directory`. [collective]
base::Status measure(const FileSweep& sweep, const World& world, const std::string& directory, Results& results);

}  // namespace perdure::micro
