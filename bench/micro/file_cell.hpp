#pragma once
// Measures one layout and mode at one size and number of writers: its repetitions, on one rank.
#include "file_sweep.hpp"

namespace perdure::micro {

/// Names the writing ranks, and their directory.
struct Writers {
  MPI_Comm all = MPI_COMM_NULL;   ///< the ranks that write
  MPI_Comm node = MPI_COMM_NULL;  ///< those of them on this node
  int rank = 0, count = 1, rank_in_node = 0, node_index = 0, nodes = 1;
  std::string directory;  ///< of this node
};

class FileCell {
 public:
  FileCell(const FileSweep& sweep, Layout layout, FileMode mode, const Writers& writers, std::uint64_t bytes);
  /// Makes one write on all ranks; does not record the warm-up. [collective]
  base::Status repeat(int repetition, const std::vector<char>& data);
  /// Verifies the file of the last repetition.
  base::Status verify_last(const std::vector<char>& data) const { return verify(target_, data); }
  /// Removes the remaining files. [collective]
  base::Status remove();
  /// Only on rank 0.
  Measured measured() const;
  Series series() const;  ///< without sizes

 private:
  std::string path(int generation) const;
  base::Status remove_file(const std::string& path) const;
  base::Status prepare(int repetition);

  const FileSweep& sweep_;
  Layout layout_;
  const Writers& writers_;
  std::uint64_t bytes_;
  WriteOptions options_;
  Target target_;
  std::vector<double> seconds_, removal_seconds_;
  std::vector<std::vector<double>> rank_seconds_;  // by repetition, then rank; only on rank 0
};

}  // namespace perdure::micro
