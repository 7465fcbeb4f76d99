#pragma once
// Provides the references: plain ways to move the same bytes as checkpoints. [all collective]
#include <string>
#include <vector>

#include "world.hpp"

namespace perdure::redundancy_bench {

class Plain {
 public:
  /// `directory`: for the files, on the file system of the tiers.
  Plain(const micro::World& world, int ranks_per_node, std::string directory, std::size_t bytes);
  std::vector<char>& data() { return data_; }
  /// Returns the seconds to write the data to a new file; it is removed outside of the time.
  base::Result<double> write() const;
  /// Sends to the rank at the same place of the next node, and receives from that of the node before.
  double send();
  /// Copies within memory.
  double copy();

 private:
  int rank_, ranks_, ranks_per_node_;
  std::string directory_;
  std::vector<char> data_, received_;
};

}  // namespace perdure::redundancy_bench
