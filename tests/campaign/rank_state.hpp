#pragma once
// What a rank of a launch protects: regions of its own, or parts of the job's arrays. It can tell whether what it has
// is that of one step, bit for bit.
#include <memory>
#include <string>

#include "campaign/scenario_data.hpp"

namespace perdure::campaign {

class RankState {
 public:
  virtual ~RankState() = default;
  /// Registers what the rank has when it is at this act of the launch: other parts of arrays than before, maybe, with
  /// the content of the same step. "" or why that was refused.
  virtual std::string protect(perdure_t* handle, std::size_t act) = 0;
  virtual void advance(std::uint64_t step) = 0;
  virtual std::uint64_t step() const = 0;
  /// Before a restore: whatever comes must be written.
  virtual void forget() = 0;
  /// Something was written since then.
  virtual bool touched() const = 0;
  /// A restore has succeeded; `spoilt`: and one element of another step is put into it.
  virtual void came(bool spoilt) = 0;
  /// What is not that of step(); "" when all is.
  virtual std::string wrong() const = 0;
};

/// Of a job that has arrays.
std::unique_ptr<RankState> arrays_of(const Scenario& scenario, std::size_t launch, int rank);

/// The seed of how the arrays are divided at an act of a launch.
int division_at(const Launch& launch, std::size_t act);

}  // namespace perdure::campaign
