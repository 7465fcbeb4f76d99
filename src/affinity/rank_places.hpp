#pragma once
// Stores a rank's places at its capture with its regions, and maps them to this machine. Pure.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "affinity/machine.hpp"
#include "base/fields.hpp"
#include "segment/manifest.hpp"

namespace perdure::affinity {

/// The processors of a thread that the program numbered.
struct ThreadPlace {
  std::int32_t id = 0;
  std::vector<std::uint32_t> cpus;  ///< ascending
  friend bool operator==(const ThreadPlace&, const ThreadPlace&) = default;
  PERDURE_FIELDS(id, cpus)
  std::string wrong() const;
};

struct RankPlaces {
  MachineImage machine;             ///< the part of the machine that it could use
  std::vector<std::uint32_t> cpus;  ///< of the thread that captured: ascending
  std::vector<ThreadPlace> threads;
  friend bool operator==(const RankPlaces&, const RankPlaces&) = default;
  PERDURE_FIELDS(machine, cpus, threads)
};

/// Stores the places in the first entry that has room for them. False: none has.
bool note(const RankPlaces& places, std::vector<segment::RegionEntry>& entries);
/// Reads the places; nothing if no entry has any, or they are invalid.
std::optional<RankPlaces> places_of(const std::vector<segment::RegionEntry>& entries);

struct PlacesHere {
  std::map<std::uint32_t, std::uint32_t> nodes;  ///< by old node; others are unknown
  std::map<std::int32_t, plan::Cpus> threads;    ///< where they may run, by their number
};

/// Maps all to the same places on the same machine. On another one, threads and pages that were together stay together
/// (plan/affinity.hpp). `bytes` counts those of regions by node. `own` is where the calling thread may run now. A
/// launcher may have put the rank on other nodes than before; then memory that was near it becomes near it again.
PlacesHere places_here(const RankPlaces& then, const std::map<std::uint32_t, std::uint64_t>& bytes,
                       const MachineImage& here, const os::CpuSet& own);

}  // namespace perdure::affinity
