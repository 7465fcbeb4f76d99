#pragma once
// The plain ways to move what checkpoints move: what they are compared with. [all collective]
#include <string>
#include <vector>

#include "world.hpp"

namespace perdure::redundancy_bench {

class Plain {
 public:
  /// `directory`: of the files, on the file system of the tiers.
  Plain(const micro::World& world, int ranks_per_node, std::string directory, std::size_t bytes);
  std::vector<char>& data() { return data_; }
  /// Seconds to write the data to a file that did not exist; it is removed outside the time.
  base::Result<double> write() const;
  /// To the rank at the same place of the next node, and from that of the one before.
  double send();
  /// Within memory.
  double copy();

 private:
  int rank_, ranks_, ranks_per_node_;
  std::string directory_;
  std::vector<char> data_, received_;
};

}  // namespace perdure::redundancy_bench
