#pragma once
// Whether a launcher (mpirun, srun, a PMI) started this process as one of several ranks. Pure: it reads what it is
// given.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace perdure::comm {

/// One of several ranks, and the variable that says so.
struct Launched {
  std::optional<std::uint64_t> ranks = {};  ///< some launchers do not say how many there are
  std::optional<std::uint64_t> rank = {};
  std::string variable;
  std::string text() const;  ///< "rank 1 of 4 (OMPI_COMM_WORLD_SIZE=4)"
};

/// A variable of the environment; nullptr: there is none.
using Lookup = std::function<const char*(const char* name)>;

/// Nothing: a process alone, as far as its environment says. The innermost launcher decides: of an mpirun within a step
/// of Slurm that is mpirun. What Slurm says of a whole job does not count: a batch script is no rank.
std::optional<Launched> one_of_several(const Lookup& lookup);

}  // namespace perdure::comm
