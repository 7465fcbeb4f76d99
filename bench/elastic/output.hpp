#pragma once
// Where the stencil's field goes: nowhere, into a file that all ranks share, or to Perdure.
#include <memory>

#include "job.hpp"
#include "lattice.hpp"

namespace perdure::elastic_bench {

/// All of it is [collective].
class Output {
 public:
  virtual ~Output() = default;
  virtual base::Status write(std::int64_t number) = 0;
  /// Until all that was written is durable.
  virtual base::Status finish() = 0;
  /// Reads that one into the lattice.
  virtual base::Status read(std::int64_t number) = 0;
  /// Whether there is anything to read.
  virtual bool keeps() const { return true; }
};

/// "none", "shared-file" or "perdure".
base::Result<std::unique_ptr<Output>> make_output(const std::string& kind, Lattice& lattice, const Places& places);

}  // namespace perdure::elastic_bench
