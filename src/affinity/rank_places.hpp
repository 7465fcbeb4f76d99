#pragma once
// Where a rank was when it was captured, kept with its regions, and where that is on this machine. Pure.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "affinity/machine.hpp"
#include "base/fields.hpp"
#include "segment/manifest.hpp"

namespace perdure::affinity {

/// Where a thread may run that the program gave a number.
struct ThreadPlace {
  std::int32_t id = 0;
  std::vector<std::uint32_t> cpus;  ///< ascending
  friend bool operator==(const ThreadPlace&, const ThreadPlace&) = default;
  PERDURE_FIELDS(id, cpus)
  std::string wrong() const;
};

struct RankPlaces {
  MachineImage machine;             ///< what it could use of it
  std::vector<std::uint32_t> cpus;  ///< of the thread that captured: ascending
  std::vector<ThreadPlace> threads;
  friend bool operator==(const RankPlaces&, const RankPlaces&) = default;
  PERDURE_FIELDS(machine, cpus, threads)
};

/// With the first entry that has room for them. False: none has.
bool note(const RankPlaces& places, std::vector<segment::RegionEntry>& entries);
/// Nothing: no entry has any, or they cannot be.
std::optional<RankPlaces> places_of(const std::vector<segment::RegionEntry>& entries);

struct PlacesHere {
  std::map<std::uint32_t, std::uint32_t> nodes;  ///< by node of then; others are not known
  std::map<std::int32_t, plan::Cpus> threads;    ///< where they may run, by their number
};

/// On the same machine all is where it was, on another one what was together stays together (plan/affinity.hpp).
/// `bytes` of regions by node. `own`: where the thread that asks may run now. A launcher may have put the rank on other
/// nodes than those that it was on. Then what was near it is to be near it again.
PlacesHere places_here(const RankPlaces& then, const std::map<std::uint32_t, std::uint64_t>& bytes,
                       const MachineImage& here, const os::CpuSet& own);

}  // namespace perdure::affinity
