#pragma once
// Writes the stencil's field nowhere, into a file that all ranks share, or to Perdure.
#include <memory>

#include "job.hpp"
#include "lattice.hpp"

namespace perdure::elastic_bench {

/// All calls are [collective].
class Output {
 public:
  virtual ~Output() = default;
  virtual base::Status write(std::int64_t number) = 0;
  /// Waits until all written data is durable.
  virtual base::Status finish() = 0;
  /// Reads that output into the lattice.
  virtual base::Status read(std::int64_t number) = 0;
  /// Whether there is any output to read.
  virtual bool keeps() const { return true; }
};

/// `kind`: "none", "shared-file" or "perdure".
base::Result<std::unique_ptr<Output>> make_output(const std::string& kind, Lattice& lattice, const Places& places);

}  // namespace perdure::elastic_bench
