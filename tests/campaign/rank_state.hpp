#pragma once
// Holds the protected data of one rank of a launch: its own regions, or parts of the job's arrays. It can tell whether
// all data belongs to one step, bit for bit.
#include <memory>
#include <string>

#include "campaign/scenario_data.hpp"

namespace perdure::campaign {

class RankState {
 public:
  virtual ~RankState() = default;
  /// Registers the rank's data for this act of the launch. The parts of arrays may change, with the content of the same
  /// step. Returns "" or the error.
  virtual std::string protect(perdure_t* handle, std::size_t act) = 0;
  virtual void advance(std::uint64_t step) = 0;
  virtual std::uint64_t step() const = 0;
  /// Call it before a restore: overwrites all data, so that only restored data can be right.
  virtual void forget() = 0;
  /// Whether anything was written since then.
  virtual bool touched() const = 0;
  /// Notes that a restore has succeeded; `spoilt`: also puts one element of another step into it.
  virtual void came(bool spoilt) = 0;
  /// Returns which data does not belong to step(); "" if none.
  virtual std::string wrong() const = 0;
};

/// Returns the state of a rank of a job with arrays.
std::unique_ptr<RankState> arrays_of(const Scenario& scenario, std::size_t launch, int rank);

/// Returns the seed for the division of arrays at one act of a launch.
int division_at(const Launch& launch, std::size_t act);

}  // namespace perdure::campaign
