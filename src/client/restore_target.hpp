#pragma once
// Restores a chosen version to any kind of memory: the protected regions, a caller's target, one region of one rank.
// All ranks restore it, or all learn why not. (docs/adr/0061)
#include <memory>

#include "capture/memory.hpp"
#include "client/region_places.hpp"
#include "client/version_reader.hpp"

namespace perdure::client {

/// The memory that one call restores to. Each version that the call tries makes these calls once, in this order.
class RestoreTarget {
 public:
  virtual ~RestoreTarget() = default;
  /// [local] Finds this rank's data in the version, which is where it is needed now.
  virtual base::Status find(VersionReader& reader) = 0;
  /// [collective] Tells whether the call is wrong on some rank, so that no other version would help. `outcome`: the
  /// result of find(), if the version was `fetched`. It becomes the error of all.
  virtual base::Result<bool> is_misused(VersionReader& reader, bool fetched, base::Status& outcome) = 0;
  /// [collective] Copies the data; `ready`: this rank can.
  virtual base::Status read(VersionReader& reader, const base::Status& ready) = 0;
  /// [collective] Tells whether some rank's memory refused verified bytes.
  virtual base::Result<bool> refuses() { return false; }
  /// [local] Notes that all ranks have their data.
  virtual void restored() {}
  /// The bits of perdure_progress::restore_source for data of other ranks' pieces.
  virtual int source() const { return 0; }
};

std::unique_ptr<RestoreTarget> restores_to(Job& job, capture::Target& target);
/// Memory of one rank comes from this rank's piece, and arrays from those of any ranks.
std::unique_ptr<RestoreTarget> restores_to(Job& job, capture::RegionTable& regions, RegionPlaces& places,
                                           std::unique_ptr<capture::MemoryTarget> target);
/// As PartRestore does.
std::unique_ptr<RestoreTarget> restores_to(Job& job, const capture::Region& target, std::uint32_t of,
                                           const capture::RegionTable& regions);

struct RestoreOutcome {
  base::Status status;    ///< combined over all ranks
  bool misused = false;   ///< the call itself is wrong on some rank: no other version would help
  bool hindered = false;  ///< some rank had a failure that says nothing about the version
  bool touched = false;   ///< the memory of some rank may hold a part of it
  int source = 0;         ///< the bits of perdure_progress::restore_source that concern other nodes
};

/// [collective] Restores the chosen version. Writes nothing to the application's memory before every rank has found
/// that the version fits.
base::Result<RestoreOutcome> restore_chosen(Job& job, VersionReader& reader, RestoreTarget& target);

/// Tells whether an error says that the version is damaged or absent. PERDURE_PEER_FAILED counts, too: another rank
/// knows the reason.
bool is_about_the_version(base::ErrorCode code);

}  // namespace perdure::client
