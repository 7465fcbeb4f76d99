#pragma once
// Tells whether a launcher (mpirun, srun, a PMI) started this process as one of several ranks. Pure: it reads the given
// environment.
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

/// Returns a variable of the environment; nullptr if it is unset.
using Lookup = std::function<const char*(const char* name)>;

/// Returns nothing if the environment shows a single process. The innermost launcher decides: for an mpirun within a
/// step of Slurm that is mpirun. Slurm's variables of a whole job do not count, because a batch script is no rank.
std::optional<Launched> one_of_several(const Lookup& lookup);

}  // namespace perdure::comm
